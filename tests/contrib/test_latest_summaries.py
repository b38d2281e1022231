"""tf.contrib.testing: summaries of the newest event file."""

import pytest

import stillflow as tf

testing = tf.contrib.testing


def test_the_last_numbers_of_tags(tmp_path):
    assert testing.latest_event_file(str(tmp_path)) is None
    assert testing.latest_summaries(str(tmp_path)) == []
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        for step, number in ((1, 2.0), (3, 4.0), (2, 3.0)):
            writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=number)]), step)
    events = testing.latest_summaries(str(tmp_path))
    assert testing.simple_values_from_events(events, ["loss"]) == {"loss": 4.0}
    testing.assert_summary(["loss"], {"loss": 2.001}, events[0].summary)
    with pytest.raises(ValueError, match="Expected tags"):
        testing.assert_summary(["other"], {}, testing.to_summary_proto(events[0].summary.SerializeToString()))

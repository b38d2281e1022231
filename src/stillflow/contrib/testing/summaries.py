"""tf.contrib.testing: summaries of the newest event file of a folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stillflow.formats import protobuf
from stillflow.names import public
from stillflow.summary.event_files import summary_iterator


@public("contrib.testing.assert_summary")
def assert_summary(expected_tags, expected_simple_values, summary_proto):
    """Compares a Summary with its tags, and {tag: number} to two decimals.

    Raises ValueError for other tags, AssertionError for other numbers.
    """
    found = set()
    for value in summary_proto.value:
        found.add(value.tag)
        if value.tag in expected_simple_values:
            expected = expected_simple_values[value.tag]
            np.testing.assert_almost_equal(value.simple_value, expected, decimal=2, err_msg=value.tag)
    if set(expected_tags) != found:
        raise ValueError(f"Expected tags {set(expected_tags)}, got {found}.")


@public("contrib.testing.to_summary_proto")
def to_summary_proto(summary_str):
    """The Summary of its bytes."""
    return protobuf.message("Summary").FromString(summary_str)


@public("contrib.testing.latest_event_file")
def latest_event_file(base_dir):
    """The last of a folder's event files by name, or None."""
    paths = sorted(str(path) for path in Path(base_dir).glob("events.*"))
    return paths[-1] if paths else None


@public("contrib.testing.latest_events")
def latest_events(base_dir):
    """An iterator of the events of the last event file."""
    path = latest_event_file(base_dir)
    return summary_iterator(path) if path else []


@public("contrib.testing.latest_summaries")
def latest_summaries(base_dir):
    """A list of the events of the last event file that have summaries."""
    return [event for event in latest_events(base_dir) if event.HasField("summary")]


@public("contrib.testing.simple_values_from_events")
def simple_values_from_events(events, tags):
    """{tag: the number of the last step} of some tags. Raises ValueError if one is no number."""
    steps: dict = {}
    found = {}
    for event in events:
        if not event.HasField("summary"):
            continue
        for value in event.summary.value:
            if value.tag not in tags:
                continue
            if not value.HasField("simple_value"):
                raise ValueError(f"Summary for {value.tag} is not a simple_value.")
            if value.tag not in steps or event.step > steps[value.tag]:
                steps[value.tag], found[value.tag] = event.step, value.simple_value
    return found

"""RecordInput: records of files in a random order."""

import collections

import pytest

import stillflow as tf


@pytest.fixture
def pattern(tmp_path):
    for i in range(5):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"part.{i}"), tf.python_io.TFRecordOptions("GZIP")) as writer:
            for j in range(4):
                writer.write(b"%d" % (4 * i + j))
    return str(tmp_path / "part.*")


def _records(pattern, count, **options):
    node = tf.contrib.framework.RecordInput(pattern, compression_type="GZIP", **options).get_yield_op()
    with tf.Session() as session:
        return [int(record) for _ in range(count) for record in session.run(node)]


def test_all_records_of_an_epoch_come_before_those_of_the_next(pattern):
    records = _records(pattern, 12, batch_size=5, buffer_size=7, shift_ratio=0.4, seed=3)
    epochs = [records[i : i + 20] for i in (0, 20, 40)]
    assert [collections.Counter(epoch) for epoch in epochs] == [collections.Counter(range(20))] * 3
    assert epochs[0] != epochs[1]


def test_the_seed_makes_the_order(pattern):
    first, again, other = (_records(pattern, 20, buffer_size=5, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_records_come_in_several_batches(pattern):
    node = tf.contrib.framework.RecordInput(pattern, batch_size=3, batches=2, compression_type="GZIP").get_yield_op()
    assert [len(batch) for batch in node] == [3, 3]
    with tf.Session() as session:
        assert len({int(record) for batch in session.run(node) for record in batch}) == 6


def test_there_have_to_be_files_and_records(tmp_path):
    node = tf.contrib.framework.RecordInput(str(tmp_path / "none*")).get_yield_op()
    tf.python_io.TFRecordWriter(str(tmp_path / "empty")).close()
    empty = tf.contrib.framework.RecordInput(str(tmp_path / "empty")).get_yield_op()
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="Found no files at"):
            session.run(node)
        with pytest.raises(tf.errors.DataLossError, match="There is no record"):
            session.run(empty)

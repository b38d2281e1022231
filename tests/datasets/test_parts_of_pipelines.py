"""Data sets for workers and replicas, and rewrites of pipelines."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.datasets import optimization
from stillflow.datasets.replicas import auto_shard, rebatch


def _elements(dataset):
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


@pytest.fixture
def files(tmp_path):
    for i in range(4):
        (tmp_path / f"{i}.txt").write_text("".join(f"{i}:{line}\n" for line in range(2)))
    return [str(tmp_path / f"{i}.txt") for i in range(4)]


def test_a_worker_reads_some_of_the_files(files):
    names = tf.data.Dataset.from_tensor_slices(files)
    lines = names.flat_map(tf.data.TextLineDataset).map(tf.identity)
    assert _elements(auto_shard(lines, 2, 1)) == [b"1:0", b"1:1", b"3:0", b"3:1"]
    assert _elements(auto_shard(tf.data.TextLineDataset(files), 4, 2)) == [b"2:0", b"2:1"]


def test_workers_read_all_files_whatever_shuffles_them(files):
    names = tf.data.Dataset.from_tensor_slices(files).shuffle(4)
    lines = names.interleave(tf.data.TextLineDataset, cycle_length=4)
    found = [line for worker in range(2) for line in _elements(auto_shard(lines, 2, worker))]
    assert sorted(found) == [b"%d:%d" % (i, line) for i in range(4) for line in range(2)]


def test_without_files_a_worker_takes_some_of_the_elements():
    dataset = tf.data.Dataset.range(7).map(lambda x: x * 10)
    assert _elements(auto_shard(dataset, 3, 1)) == [10, 40]
    assert _elements(auto_shard(dataset, 1, 0)) == [0, 10, 20, 30, 40, 50, 60]


def test_each_worker_has_to_find_something():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"# elems = 3, # shards = 5"):
        _elements(auto_shard(tf.data.Dataset.range(3), 5, 0))
    assert _elements(auto_shard(tf.data.Dataset.range(0), 5, 0)) == []
    with pytest.raises(tf.errors.InvalidArgumentError, match="index must be between 0 and 1"):
        _elements(auto_shard(tf.data.Dataset.range(3), 2, 2))


def test_batches_come_in_parts():
    dataset = tf.data.Dataset.range(7).batch(5)
    parts = rebatch(dataset, 3)
    assert [list(part) for part in _elements(parts)] == [[0, 1], [2, 3], [4], [5], [6], []]
    assert tf.data.get_output_shapes(rebatch(dataset.map(lambda x: tf.zeros([6, 2])), 3)).as_list() == [2, 2]


def test_scalars_have_no_parts():
    with pytest.raises(ValueError, match="at least one dimension"):
        rebatch(tf.data.Dataset.range(3), 2)


def test_filters_become_one():
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.filter_fusion = True
    dataset = tf.data.Dataset.range(20).apply(optimization.assert_next(["Filter", "MemoryCacheImpl"]))
    for divisor in (2, 3):
        dataset = dataset.filter(lambda x, divisor=divisor: tf.equal(x % divisor, 0))
    assert _elements(dataset.cache().with_options(options)) == [0, 6, 12, 18]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Asserted MemoryCacheImpl transformation at offset 1"):
        _elements(dataset.cache())


def test_the_fastest_of_equal_data_sets_has_their_elements():
    first = tf.data.Dataset.range(4).map(lambda x: 2 * x).batch(2)
    second = tf.data.Dataset.range(4).batch(2).map(lambda x: 2 * x)
    np.testing.assert_array_equal(_elements(optimization.choose_fastest([first, second])), [[0, 2], [4, 6]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same output types"):
        _elements(optimization.choose_fastest([first, tf.data.Dataset.from_tensors("a")]))

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


def _rewritten(build, readers, **rewrites):
    options = tf.data.Options()
    optimizations = options.experimental_optimization
    optimizations.apply_default_optimizations = False
    for name, value in rewrites.items():
        setattr(optimizations, name, value)
    source = tf.data.Dataset.range(7).apply(optimization.assert_next(readers))
    return [np.asarray(element).tolist() for element in _elements(build(source).with_options(options))]


def test_maps_become_one():
    def build(dataset):
        return dataset.map(lambda x: x + 1).map(lambda x: (x, 2 * x)).map(lambda x, y: x * y).take(3)

    assert _rewritten(build, ["Map", "FiniteTake"], map_fusion=True) == [2, 8, 18]
    assert _rewritten(build, ["Map", "Map", "Map", "FiniteTake"]) == [2, 8, 18]


@pytest.mark.parametrize(
    ("readers", "rewrites"),
    [
        (["Map", "BatchV2"], {}),
        (["MapAndBatch"], {"map_and_batch_fusion": True}),
        (["ParallelMap", "BatchV2"], {"map_parallelization": True}),
        (["MapAndBatch", "Prefetch"], {"map_and_batch_fusion": True, "autotune_buffers": True}),
    ],
)
def test_a_map_and_its_batch_are_rewritten(readers, rewrites):
    def build(dataset):
        return dataset.map(lambda x: 3 * x).batch(4)

    assert _rewritten(build, readers, **rewrites) == [[0, 3, 6, 9], [12, 15, 18]]


def test_a_rewrite_reaches_the_data_sets_of_a_flat_map():
    def inner(x):
        dataset = tf.data.Dataset.from_tensors(x).apply(optimization.assert_next(["FiniteTake"]))
        return dataset.skip(0).take(1)

    assert _rewritten(lambda dataset: dataset.flat_map(inner), ["FlatMap"], noop_elimination=True) == list(range(7))


@pytest.mark.parametrize(("chooses", "reader"), [(True, "ChooseFastestBranch"), (False, "MapAndBatch")])
def test_a_map_is_called_for_whole_batches(chooses, reader):
    vectorization = tf.data.experimental.MapVectorizationOptions()
    vectorization.enabled, vectorization.use_choose_fastest = True, chooses
    found = _rewritten(
        lambda dataset: dataset.map(lambda x: x * x).batch(2), [reader], map_vectorization=vectorization
    )
    assert found == [[0, 1], [4, 9], [16, 25], [36]]


def test_the_fastest_of_equal_data_sets_has_their_elements():
    first = tf.data.Dataset.range(4).map(lambda x: 2 * x).batch(2)
    second = tf.data.Dataset.range(4).batch(2).map(lambda x: 2 * x)
    np.testing.assert_array_equal(_elements(optimization.choose_fastest([first, second])), [[0, 2], [4, 6]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have the same output types"):
        _elements(optimization.choose_fastest([first, tf.data.Dataset.from_tensors("a")]))

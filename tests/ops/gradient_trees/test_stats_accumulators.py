"""Accumulators sum gradients and hessians by partition, dimension and feature."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.contrib.boosted_trees.resources import StatsAccumulator
from stillflow.testing import THREAD_COUNTS
from stillflow.variables.readiness import initialize_resources, shared_resources

SCALAR = tf.TensorShape([])


def session():
    made = tf.Session()
    made.run(initialize_resources(shared_resources()))
    return made


def values(result):
    return [np.asarray(each).tolist() for each in result]


def test_rows_of_a_key_are_summed_and_come_in_order():
    sums = StatsAccumulator(0, SCALAR, SCALAR)
    add = sums.add(0, [2, 1, 1, 2], [[5, 0], [3, 1], [3, 0], [5, 0]], [0.5, 1.0, 2.0, 0.25], [1.0, 2.0, 3.0, 4.0])
    flush = sums.flush(0, 1)
    with session() as run:
        run.run(add)
        run.run(add)
        assert values(run.run(flush)) == [
            2, [1, 1, 2], [[3, 0], [3, 1], [5, 0]], [4.0, 2.0, 1.5], [6.0, 4.0, 10.0],
        ]  # fmt: skip
        assert values(run.run(sums.saveable.serialize())) == [1, 0, [], [], [], []]


def test_an_update_with_an_older_stamp_is_dropped_and_a_flush_refused():
    sums = StatsAccumulator(5, SCALAR, SCALAR)
    stamp = tf.placeholder(tf.int64, [])
    add = sums.add(stamp, [0], [[0, 0]], [1.0], [1.0])
    with session() as run:
        run.run(add, {stamp: 4})
        assert values(run.run(sums.saveable.serialize()))[:2] == [5, 0]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Passed stamp token: 4 Current token: 5"):
            run.run(sums.flush(4, 6))
        with pytest.raises(tf.errors.InvalidArgumentError, match="next_stamp_token must differ"):
            run.run(sums.flush(5, 5))


def test_tensors_are_summed_by_element_and_saved():
    sums = StatsAccumulator(0, tf.TensorShape([2]), tf.TensorShape([2, 2]), name="of tensors")
    gradients, hessians = np.arange(6.0).reshape(3, 2), np.arange(12.0).reshape(3, 2, 2)
    add = sums.add(0, [0, 1, 0], [[1, 0]] * 3, gradients.astype("f"), hessians.astype("f"))
    with session() as run:
        run.run(add)
        state = run.run(sums.saveable.serialize())
        np.testing.assert_array_equal(state[4], [gradients[0] + gradients[2], gradients[1]])
        np.testing.assert_array_equal(state[5], [hessians[0] + hessians[2], hessians[1]])
        run.run(sums.saveable.deserialize(7, 3, *state[2:]))
        again = run.run(sums.saveable.serialize())
        assert again[:2] == (7, 3)
        assert all(map(np.array_equal, again[2:], state[2:]))


@pytest.mark.parametrize(
    ("gradients", "hessians", "message"),
    [
        (np.ones((1, 3)), np.ones((1, 2, 2)), r"Gradients dimensions must match: \[3\], \[2\]"),
        (np.ones((1, 2)), np.ones((1, 2, 3)), r"Hessian dimensions must match: \[2,3\], \[2,2\]"),
        (np.ones((1, 2)), np.ones((1, 2, 2)), "are not those of 2 partitions"),
    ],
)
def test_other_shapes_are_refused(gradients, hessians, message):
    sums = StatsAccumulator(0, tf.TensorShape([2]), tf.TensorShape([2, 2]))
    fed = [tf.placeholder(tf.float32), tf.placeholder(tf.float32)]
    partitions = tf.placeholder(tf.int32, [None])
    features = tf.placeholder(tf.int64, [None, 2])
    add = ops.stats_accumulator_tensor_add([sums.resource_handle], 0, [partitions], [features], [fed[0]], [fed[1]])
    rows = [0, 0] if "partitions" in message else [0]
    feeds = {partitions: rows, features: np.zeros((len(rows), 2)), fed[0]: gradients, fed[1]: hessians}
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run.run(add, feeds)


@pytest.mark.parametrize("threads", THREAD_COUNTS)
def test_several_accumulators_and_one_that_comes_twice_have_the_same_bits_for_any_threads(threads, rng):
    first, second = StatsAccumulator(0, SCALAR, SCALAR, "a"), StatsAccumulator(0, SCALAR, SCALAR, "b")
    handles = [first.resource_handle, second.resource_handle, first.resource_handle]
    values_of = [rng.normal(size=50).astype("f") for _ in handles]
    partitions = [np.arange(50, dtype=np.int32) % 3] * 3
    add = ops.stats_accumulator_scalar_add(
        handles, 0, partitions, [np.zeros((50, 2), np.int64)] * 3, values_of, values_of
    )
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Session(config=config) as run:
        run.run(initialize_resources(shared_resources()))
        run.run(add)
        found = run.run(first.saveable.serialize())[4]
    expected = np.zeros(3, np.float32)
    for numbers in (values_of[0], values_of[2]):
        for i, number in enumerate(numbers):
            expected[i % 3] += number
    assert found.tobytes() == expected.tobytes()


def test_an_accumulator_must_be_initialized():
    sums = StatsAccumulator(0, SCALAR, SCALAR)
    with tf.Session() as run:
        assert not run.run(sums.is_initialized())
        with pytest.raises(tf.errors.NotFoundError, match="StatsAccumulatorResource"):
            run.run(sums.flush(0, 1))

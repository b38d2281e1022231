"""Quantiles of features: summaries, streams with a stamp, and buckets of numbers."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.contrib.boosted_trees.messages import QuantileConfig, QuantileStreamState, QuantileSummaryState
from stillflow.contrib.boosted_trees.resources import QuantileAccumulator
from stillflow.testing import assert_same_bits
from stillflow.variables.readiness import initialize_resources, shared_resources

NUMBERS = np.arange(100, dtype=np.float32)[::-1]


def summary(values, weights=None, epsilon=0.01):
    weights = np.ones(len(values)) if weights is None else weights
    return ops.make_quantile_summaries(
        [np.reshape(values, (-1, 1)).astype("f")], [], [], [], np.reshape(weights, (-1, 1)).astype("f"), epsilon
    ).dense_summaries[0]


def session():
    made = tf.Session()
    made.run(initialize_resources(shared_resources()))
    return made


def test_a_summary_has_the_ranks_of_values():
    with tf.Session() as run:
        found = QuantileSummaryState.FromString(run.run(summary([3.0, 1.0, 3.0], [1.0, 2.0, 0.5])))
    entries = [(each.value, each.weight, each.min_rank, each.max_rank) for each in found.entries]
    assert entries == [(1.0, 2.0, 0.0, 2.0), (3.0, 1.5, 2.0, 3.5)]


def test_a_sparse_feature_takes_the_weights_of_its_examples():
    weights = np.array([[1.0], [5.0], [2.0]], np.float32)
    made = ops.make_quantile_summaries([], [[[0, 0], [2, 0]]], [[4.0, 7.0]], [[3, 1]], weights, 0.1)
    with tf.Session() as run:
        found = QuantileSummaryState.FromString(run.run(made.sparse_summaries[0]))
    assert [(each.value, each.weight) for each in found.entries] == [(4.0, 1.0), (7.0, 2.0)]


@pytest.mark.parametrize(
    ("indices", "shape", "message"),
    [([[3, 0]], [3, 1], r"\[0, 0\] = 3 is not in \[0, 3\)"), ([[0, 0]], [4, 1], "doesn't match the batch size")],
)
def test_sparse_examples_outside_of_the_batch_are_refused(indices, shape, message):
    made = ops.make_quantile_summaries([], [indices], [[4.0]], [shape], np.ones((3, 1), "f"), 0.1)
    with tf.Session() as run, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run.run(made.sparse_summaries)


def test_summaries_and_buckets_have_the_same_bits_for_any_threads(rng):
    dense, weights = rng.normal(size=(300, 1)).astype("f"), rng.uniform(size=(300, 1)).astype("f")

    def build(dense, weights):
        config = QuantileConfig(eps=0.05, num_quantiles=10).SerializeToString()
        buckets = ops.quantile_buckets([dense, -dense], [], [], [], weights, [config] * 2, []).dense_buckets
        return ops.concat(buckets, 0)

    assert_same_bits(build, dense, weights)


def test_boundaries_are_quantiles_within_the_error():
    stream = QuantileAccumulator(0, epsilon=0.01, num_quantiles=4, name="q")
    add = stream.add_prebuilt_summary(0, summary(NUMBERS, epsilon=0.005))
    before, flush, after, later = (
        stream.get_buckets(0),
        stream.flush(0, 1),
        stream.get_buckets(0),
        stream.get_buckets(1),
    )
    with session() as run:
        assert [each.tolist() for each in run.run(before)] == [False, []]
        run.run(add)
        run.run(flush)
        assert not run.run(after)[0]
        ready, boundaries = run.run(later)
    assert ready
    assert np.abs(boundaries - [0, 25, 50, 75, 99][: len(boundaries)]).max() <= 26
    assert boundaries[-1] == 99


def test_as_many_quantiles_as_are_wanted():
    stream = QuantileAccumulator(0, epsilon=0.01, num_quantiles=3, name="q", generate_quantiles=True)
    add, flush, buckets = stream.add_prebuilt_summary(0, summary(NUMBERS)), stream.flush(0, 1), stream.get_buckets(1)
    with session() as run:
        run.run(add)
        run.run(flush)
        np.testing.assert_allclose(run.run(buckets)[1], [0, 33, 66, 99], atol=1)
        with pytest.raises(tf.errors.InvalidArgumentError, match="no quantiles of a stream without values"):
            run.run(stream.flush(1, 2))


def test_an_update_with_an_older_stamp_is_dropped_and_a_flush_refused():
    stream = QuantileAccumulator(3, epsilon=0.1, num_quantiles=3, name="q")
    with session() as run:
        run.run(stream.add_prebuilt_summary(2, summary(NUMBERS)))
        assert not QuantileSummaryState.FromString(run.run(stream.flush_summary(3, 4))).entries
        with pytest.raises(tf.errors.InvalidArgumentError, match="Passed stamp token: 3 Current token: 4"):
            run.run(stream.flush(3, 4))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse quantile summary"):
            run.run(stream.add_prebuilt_summary(4, b"\xff"))


def test_a_stream_is_saved_between_updates(tmp_path):
    stream = QuantileAccumulator(0, epsilon=0.1, num_quantiles=3, name="q")
    add, flush, buckets = stream.add_prebuilt_summary(0, summary(NUMBERS)), stream.flush(0, 1), stream.get_buckets(1)
    saver = tf.train.Saver()
    with session() as run:
        run.run(add)
        path = saver.save(run, str(tmp_path / "q"))
        run.run(flush)
        expected = run.run(buckets)[1]
    with tf.Session() as run:
        saver.restore(run, path)
        run.run(flush)
        np.testing.assert_array_equal(run.run(buckets)[1], expected)
    keys = sorted(tf.train.load_checkpoint(path).get_variable_to_shape_map())
    assert keys == ["q/_are_buckets_ready", "q/_stamp", "q/_state", "q/buckets"]
    state = QuantileStreamState.FromString(tf.train.load_checkpoint(path).get_tensor("q/_state"))
    assert len(state.summaries) == 2


def test_a_damaged_stream_is_refused():
    stream = QuantileAccumulator(0, epsilon=0.1, num_quantiles=3, name="q")
    bad = ops.quantile_accumulator_deserialize(stream.resource_handle, 1, b"\x0a\xff", True, [1.0])
    with session() as run, pytest.raises(tf.errors.InvalidArgumentError, match="Unable to parse quantile stream"):
        run.run(bad)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, -1.0])
def test_an_error_that_cannot_be_is_refused(epsilon):
    QuantileAccumulator(0, epsilon=epsilon, num_quantiles=3, name="q")
    with pytest.raises(tf.errors.InvalidArgumentError, match="epsilon value of zero|with an error of"):
        session()


def test_numbers_go_into_the_buckets_of_boundaries():
    dense, sparse = ops.quantiles(
        [[0.5, 1.0, 1.5, 9.0]], [[2.5]], [[1.0, 2.0]], [[1.0, 3.0]], [[[0, 7]]]
    )  # fmt: skip
    with tf.Session() as run:
        found = run.run([dense[0], sparse[0]])
    assert found[0].tolist() == [[0, 0], [0, 0], [1, 0], [1, 0]]
    assert found[1].tolist() == [[1, 7]]


def test_numbers_without_boundaries_are_refused():
    empty = tf.placeholder(tf.float32, [None])
    found = ops.quantiles([[0.5]], [], [empty], [], [])
    with tf.Session() as run, pytest.raises(tf.errors.InvalidArgumentError, match="empty buckets for feature 0"):
        run.run(found.dense_quantiles, {empty: []})


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32, np.float64])
def test_bucketize_counts_the_boundaries_that_are_not_above(dtype):
    values = np.array([[-5, 1], [10, 150]], dtype)
    with tf.Session() as run:
        found = run.run(ops.bucketize_with_input_boundaries(values, [0.0, 10.0, 100.0]))
    np.testing.assert_array_equal(found, np.digitize(values, [0, 10, 100]))


def test_bucketize_wants_sorted_boundaries():
    found = ops.bucketize_with_input_boundaries([1], [3.0, 1.0])
    with tf.Session() as run, pytest.raises(tf.errors.InvalidArgumentError, match="Expected sorted boundaries"):
        run.run(found)

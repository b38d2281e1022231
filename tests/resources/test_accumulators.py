"""tf.ConditionalAccumulator and its kin: waiting, many threads, types, bad input. Graphs are in the snippets."""

import threading

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import new_session, of_unknown_shape


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
def test_means_of_all_types(dtype):
    with new_session() as session:
        accumulator = tf.ConditionalAccumulator(dtype, [2])
        for values in ([1, 2], [2, 5], [6, 8]):
            session.run(accumulator.apply_grad(tf.cast(values, dtype)))
        taken = session.run(accumulator.take_grad(2))
        assert taken.dtype == dtype.as_numpy_dtype and taken.tolist() == [3, 5]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.bfloat16, tf.uint8])
def test_other_types_are_refused(dtype):
    with new_session() as session:
        for kind in (tf.ConditionalAccumulator, tf.SparseConditionalAccumulator):
            with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel"):
                session.run(kind(dtype).num_accumulated())


def test_gradients_of_earlier_steps_do_not_count():
    with new_session() as session:
        accumulator = tf.ConditionalAccumulator(tf.float32)
        count = accumulator.num_accumulated()
        step = tf.placeholder(tf.int64, [])
        apply = accumulator.apply_grad(1.0, local_step=step)
        session.run(accumulator.set_global_step(5))
        session.run(apply, {step: 4})
        assert session.run(count) == 0
        session.run(apply, {step: 5})
        session.run(apply, {step: 9})
        assert session.run(count) == 2
        session.run(accumulator.take_grad(1))
        session.run(apply, {step: 5})
        assert session.run(count) == 0  # the step is 6 now


def test_takers_wait_in_turn_and_many_threads_add():
    with new_session() as session:
        accumulator = tf.ConditionalAccumulator(tf.float64, [3], reduction_type="SUM")
        value = tf.placeholder(tf.float64, [3])
        apply = accumulator.apply_grad(value, local_step=2**40)
        take = accumulator.take_grad(10)
        taken = []

        def add(number):
            for i in range(50):
                session.run(apply, {value: [1, number, i]})

        def collect():
            for _ in range(5):
                taken.append(session.run(take))

        threads = [threading.Thread(target=add, args=(i,)) for i in range(4)]
        threads += [threading.Thread(target=collect) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads[:4]:
            thread.join(60)
        # Takers may have taken more than ten at once; what is missing comes now.
        while any(thread.is_alive() for thread in threads[4:]):
            session.run(apply, {value: [0, 0, 0]})
        total = np.sum(taken, axis=0)
        left = session.run(accumulator.num_accumulated())
        if left:
            total = total + session.run(accumulator.take_grad(1))
        assert total.tolist() == [200, 50 * (0 + 1 + 2 + 3), 4 * sum(range(50))]


def test_waiting_ends_with_the_run():
    with new_session() as session:
        accumulator = tf.ConditionalAccumulator(tf.float32)
        take = accumulator.take_grad(1)
        options = tf.RunOptions(timeout_in_ms=100)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(take, options=options)
        session.run(accumulator.apply_grad(2.0))
        assert session.run(take) == 2


def test_closing_the_session_ends_waiting():
    with tf.Graph().as_default():
        session = tf.Session()
        take = tf.SparseConditionalAccumulator(tf.float32).take_grad(1)
        failures = []

        def wait():
            try:
                session.run(take)
            except tf.errors.CancelledError as error:
                failures.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        thread.join(0.2)
        session.close()
        thread.join(30)
        assert not thread.is_alive() and len(failures) == 1


def run_sparse(indices, values, shape=None, own_shape=None):
    with new_session() as session:
        accumulator = tf.SparseConditionalAccumulator(tf.float32, own_shape)
        indices = of_unknown_shape(tf.constant(np.array(indices, np.int64)))
        values = of_unknown_shape(tf.constant(np.array(values, np.float32)))
        session.run(accumulator.apply_grad(indices, values, shape))
        return [part.tolist() for part in session.run(accumulator.take_grad(1))]


def test_sparse_gradients_come_back():
    assert run_sparse([0, 1], [1, 2]) == [[0, 1], [1, 2], [-1]]
    assert run_sparse([2, 1], [1, 2]) == [[2, 1], [1, 2], [-1]]
    assert run_sparse([0, 1], [[1], [2]], [3, 1]) == [[0, 1], [[1], [2]], [-1, 1]]
    assert run_sparse([], np.zeros([0, 2])) == [[], [], [-1, 2]]
    assert run_sparse([2], [[1, 2]], [3, 2], [3, 2]) == [[2], [[1, 2]], [3, 2]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1], [1.0]), "Expected 2 non-empty input values, got 1"),
        (([[0]], [1.0]), "vector"),
        (([0], 1.0), "cannot be 0-dimensional"),
        (([0], [[1, 1]], [3, 1], [3, 2]), "expected shape dim 1 to be 2, got 1"),
        (([9], [[1.0, 1]], None, [3, 2]), "index is 9 exceeded 3"),
        (([0], [[1.0, 1, 1]], None, [3, 2]), "expected values dim 1 to be 2, got 3"),
        (([0], [1.0], None, [3, 2]), "rank"),
        (([0], [1.0], [3, 2, 2], [3, 2]), "rank"),
    ],
)
def test_wrong_sparse_gradients_are_refused(arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run_sparse(*arguments)


def test_gradients_of_other_shapes_and_types_are_refused():
    with new_session() as session:
        value = tf.placeholder(tf.float32)
        apply = tf.ConditionalAccumulator(tf.float32).apply_grad(value)
        session.run(apply, {value: [1, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[2\], got \[3\]"):
            session.run(apply, {value: [1, 2, 3]})
        known = tf.ConditionalAccumulator(tf.float32, [2])
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"expected \[2\], got \[3\]"):
            session.run(known.apply_grad(value), {value: [1, 2, 3]})
        with pytest.raises(ValueError, match="not compatible|incompatible"):
            known.apply_grad([1.0])
        sparse = tf.SparseConditionalAccumulator(tf.float32)
        session.run(sparse.apply_grad([0], [[1.0, 1]]))
        with pytest.raises(tf.errors.InvalidArgumentError, match="dim 1 to be 2, got 3"):
            session.run(sparse.apply_grad([0], [[1.0, 1, 1]]))
        for wrong in (
            ops.resource_accumulator_apply_gradient(known.accumulator_ref, 0, tf.constant([1, 2])),
            ops.resource_accumulator_take_gradient(known.accumulator_ref, 1, dtype=tf.float64),
            ops.resource_accumulator_take_gradient(known.accumulator_ref, 0, dtype=tf.float32),
            ops.accumulator_take_gradient(sparse.accumulator_ref, 1, dtype=tf.float32),
            ops.resource_accumulator_num_accumulated(tf.FIFOQueue(1, [tf.float32]).queue_ref),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(wrong)


def test_sparse_gradients_may_have_more_dimensions_than_the_shape_says():
    """As in TensorFlow: replicas that are in step accumulate the gradients of rows under the shape ()."""
    with tf.Graph().as_default(), tf.Session() as session:
        accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=())
        rows = tf.IndexedSlices(tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([0, 2], tf.int64), [3, 2])
        apply = accumulator.apply_indexed_slices_grad(rows, local_step=0)
        session.run(apply)
        session.run(apply)
        taken = accumulator.take_indexed_slices_grad(2)
        indices, values, shape = session.run([taken.indices, taken.values, taken.dense_shape])
        assert (indices.tolist(), values.tolist(), shape.tolist()) == ([0, 2], [[1, 2], [3, 4]], [-1, 2])

        of_rows = tf.SparseConditionalAccumulator(tf.float32, shape=[None, None, 2])
        with pytest.raises(tf.errors.InvalidArgumentError, match="expected (shape|values) rank at least 3, got 2"):
            session.run(of_rows.apply_indexed_slices_grad(rows, local_step=0))

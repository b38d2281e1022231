"""Accumulators of gradients."""


def _in_turn(tf, *steps):
    """The values of functions that are called one after the other, each after the operations of the last."""
    results, waits = [], []
    for step in steps:
        with tf.control_dependencies(waits):
            result = step()
        waits = [result]
        if not isinstance(result, tf.Operation):
            results.append(result)
    return results


def means(tf):
    a = tf.ConditionalAccumulator(tf.float32, [2])
    return _in_turn(
        tf, lambda: a.apply_grad([1.0, 2.0]), lambda: a.apply_grad([3.0, 5.0], local_step=0), a.num_accumulated,
        lambda: a.take_grad(2), lambda: a.apply_grad([9.0, 9.0], name="late"), lambda: a.num_accumulated("n"),
        lambda: a.set_global_step(5), lambda: a.apply_grad([7.0, 8.0], local_step=tf.constant(5)),
        lambda: a.take_grad(1, name="taken"),
    )  # fmt: skip


def sums(tf):
    a = tf.ConditionalAccumulator(tf.float64, name="sum", reduction_type="SUM", shared_name="s")
    return _in_turn(tf, lambda: a.apply_grad(1.5), lambda: a.apply_grad(2.0), lambda: a.take_grad(1))


def sparse_means(tf):
    a = tf.SparseConditionalAccumulator(tf.float32, [3, 2])
    slices = tf.IndexedSlices(tf.constant([[5.0, 5.0], [1.0, 1.0]]), tf.constant([2, 1]), tf.constant([3, 2]))
    return _in_turn(
        tf, lambda: a.apply_grad([0, 2], [[1.0, 1.0], [2.0, 2.0]]), lambda: a.apply_indexed_slices_grad(slices),
        a.num_accumulated, lambda: a.take_grad(1).values, lambda: a.set_global_step(9),
        lambda: a.apply_grad([1], [[1.0, 1.0]], [3, 2], local_step=9),
        lambda: a.take_indexed_slices_grad(1).indices,
    )  # fmt: skip


def sparse_sums(tf):
    a = tf.sparse.SparseConditionalAccumulator(tf.float32, reduction_type="SUM", name="sum")
    return _in_turn(
        tf, lambda: a.apply_grad([1, 4], [[1.0, 1.0], [2.0, 2.0]]),
        lambda: a.apply_grad([0, 4, 9], [[3.0, 3.0], [4.0, 4.0], [5.0, 5.0]], [10, 2]), lambda: a.take_grad(2).shape,
    )  # fmt: skip

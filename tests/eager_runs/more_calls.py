"""Calls of functions that the snippets of tests/programs do not call."""

import numpy as np


def checks(tf):
    x = tf.constant([1.0, 2.0])
    tf.assert_proper_iterable([x])
    return [
        tf.constant(tf.assert_same_float_dtype([x, x]).name), tf.constant(tf.is_numeric_tensor(x)),
        tf.constant(tf.is_tensor(x)), tf.constant(tf.get_static_value(x)), tf.constant(tf.make_tensor_proto([1]).dtype),
        tf.constant(tf.make_ndarray(tf.make_tensor_proto([1.5, 2.5]))), tf.constant(tf.dimension_value(x.shape[0])),
        tf.constant(tf.executing_eagerly()),
    ]  # fmt: skip


def shapes(tf):
    return [
        tf.broadcast_dynamic_shape([2, 1], [3]), tf.constant(tf.broadcast_static_shape(
            tf.TensorShape([2, 1]), tf.TensorShape([3])).as_list()),
        tf.sequence_mask([1, 3, 2]), tf.sequence_mask([1, 3, 2], 5, tf.float32), tf.sequence_mask([[0, 2]], tf.constant(3)),
    ]  # fmt: skip


def conversions(tf):
    x = tf.convert_to_tensor_or_indexed_slices([1, 2])
    y = tf.convert_to_tensor_or_sparse_tensor([1.0, 2.0])
    sparse = tf.sparse.from_dense([[0, 3], [4, 0]])
    return [x, y, sparse.indices, sparse.values, tf.sparse.to_dense(tf.sparse.eye(2, 3))]


def rows(tf):
    table = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    picked = tf.batch_gather(table, [[2, 0], [1, 1]])
    return [picked] + tf.gradients(picked * picked, table)


def scattered(tf):
    x, updates = tf.constant([1.0, 2.0, 3.0, 4.0]), tf.constant([10.0, 20.0])
    places = tf.constant([[3], [0]])
    found = []
    for function in (tf.tensor_scatter_add, tf.tensor_scatter_sub, tf.tensor_scatter_update):
        result = function(x, places, updates)
        found += [result] + tf.gradients(result * result, [x, updates])
    return found


def products(tf):
    a = tf.constant([[1.0, 0.0], [0.0, 2.0]])
    b = tf.constant([[3.0, 4.0], [5.0, 6.0]])
    product = tf.sparse_matmul(a, b, transpose_b=True, a_is_sparse=True)
    return [product] + tf.gradients(product * product, [a, b]) + [tf.linalg.l2_normalize(b, 1)]


def activations(tf):
    x = tf.constant([-2.0, 0.0, 1.5])
    y = tf.nn.swish(x)
    return [y] + tf.gradients(y, x)


def fake_quantization(tf):
    grads, x = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[-9.0, 0.25], [3.0, 9.0]])
    low, high = tf.constant([-1.0, -2.0]), tf.constant([4.0, 5.0])
    return [
        tf.fake_quant_with_min_max_args_gradient(grads, x),
        tf.fake_quant_with_min_max_vars_gradient(grads, x, -1.0, 4.0),
        tf.fake_quant_with_min_max_vars_per_channel_gradient(grads, x, low, high),
    ]  # fmt: skip


def random_numbers(tf):
    tf.set_random_seed(11)
    boxes = tf.image.sample_distorted_bounding_box(
        [40, 50, 3], [[[0.1, 0.2, 0.5, 0.9]]], seed=1, seed2=2, min_object_covered=0.1
    )
    return [
        tf.truncated_normal([5]), tf.random.truncated_normal([3], 1.0, 2.0, tf.float64, seed=3), list(boxes),
        tf.random_normal([3]), tf.random_normal([3], seed=1), tf.random_normal([3], seed=1), tf.random_uniform([2]),
    ]  # fmt: skip


def seeds_of_calls_alike(tf):
    """Calls of one operation with one seed go on; a new global seed starts them anew."""
    tf.set_random_seed(4)
    first = [tf.random_uniform([2], seed=9) for _ in range(3)]
    tf.set_random_seed(4)
    return first + [
        tf.random_uniform([2], seed=9),
        tf.random_shuffle(tf.range(6)),
        tf.random_shuffle([1, 2, 3], seed=2),
    ]


def functions(tf):
    @tf.custom_gradient
    def clipped(x):
        return tf.square(x), lambda dy: tf.minimum(dy * 2.0 * x, 1.0)

    x = tf.constant([0.25, 3.0])
    return [tf.numpy_function(np.cumsum, [x], tf.float32), clipped(x)] + tf.gradients(clipped(x), x)


def mixed_numbers(tf):
    """Plain numbers take the type of the tensors beside them, wherever they stand."""
    x, i = tf.constant([1.0, 4.0]), tf.constant([2, 3], tf.int64)
    return [
        tf.add(1, x), tf.pow(2, x), tf.maximum(2, x), tf.where([True, False], [7, 8], x), tf.floordiv(7, i), tf.mod(7, i),
        tf.clip_by_value(x, 2, 3), tf.concat([[1], x], 0), tf.stack([1, x[0]]), tf.less(2, x), 2 ** x, 1 / x, 7 // i,
        tf.constant(range(3)), tf.constant(300, tf.uint8), tf.constant(2**40, tf.int32),
    ]  # fmt: skip


def types_and_shapes_of_values(tf):
    x = tf.constant([[1, 2], [3, 4]])
    return [
        tf.constant(x.shape.as_list()), tf.constant(int(x[0, 1])), tf.constant([float(item) for item in x[1]]),
        tf.constant(len(x)), tf.constant(np.array(x) + 1), np.array([2, 2]) * x, x @ x, -x, abs(-x), x[..., tf.newaxis],
        x[::-1], x[tf.constant(1)], x[x.shape[0] - 1], tf.constant(x.numpy().sum()),
    ]  # fmt: skip

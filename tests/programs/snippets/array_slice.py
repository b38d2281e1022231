"""Slices and indexing."""

import numpy as np


def _cube(tf):
    return tf.constant(np.arange(60, dtype=np.float32).reshape(3, 4, 5))


def _unknown(tf, values, shape=None, dtype=None):
    return tf.placeholder_with_default(tf.constant(values, dtype), shape)


def slices(tf):
    x = _cube(tf)
    return [
        tf.slice(x, [1, 0, 2], [1, 2, 3]),
        tf.slice(x, [1, 1, 1], [-1, 2, -1], name="s"),
        tf.slice(x, (0, 0, 0), (3, 1, 5)),
    ]


def slices_of_unknown_shape(tf):
    x = _unknown(tf, np.arange(12, dtype=np.float32).reshape(3, 4), [None, 4])
    n = tf.shape(x)[0]
    return [tf.slice(x, [0, 1], [n, 2]), tf.slice(x, [1, 0], [-1, -1]), tf.slice(x, [n - 1, 0], [1, 4])]


def gradient_of_slice(tf):
    x = _cube(tf)
    y = _unknown(tf, np.arange(12, dtype=np.float32).reshape(3, 4))
    return tf.gradients([tf.slice(x, [1, 0, 2], [1, 2, 3]) * 2.0, tf.slice(y, [1, 1], [2, -1])], [x, y])


def indices(tf):
    x = _cube(tf)
    return [x[1], x[-1], x[1, 2], x[1, 2, 3], x[:, 1], x[..., -1], x[0, ..., 2]]


def ranges(tf):
    x = _cube(tf)
    return [x[1:], x[:2], x[:, 1:3], x[::2], x[..., 1:4:2], x[1:2, 2:, :-1], x[5:], x[:]]


def negative_steps(tf):
    x = _cube(tf)
    return [x[::-1], x[:, ::-1, ::-2], x[2:0:-1], x[..., 3::-2], x[:, -1:-9:-1]]


def new_axes(tf):
    x = _cube(tf)
    return [x[None], x[:, None], x[:, tf.newaxis, 1], x[..., None], x[None, ..., None, 0], x[1, None, ..., 2:]]


def dimensions_as_indices(tf):
    x = _cube(tf)
    unknown = _unknown(tf, np.arange(12, dtype=np.float32).reshape(3, 4), [None, 4])
    rows, columns = unknown.shape
    return [
        x[:, : x.shape[1]], x[x.shape[2] - 3, 1], x[0, x.shape[1] - 1 :], x[..., :: x.shape[0]], unknown[:rows],
        unknown[:, columns // 2 :], unknown[tf.Dimension(0) : tf.shape(x)[0]],
    ]  # fmt: skip


def tensors_as_indices(tf):
    x = _cube(tf)
    i, j = _unknown(tf, 1, []), tf.constant(2)
    return [x[i], x[i:], x[:j], x[i, j], x[i:j, ..., 0], x[::j], x[i + 1, :j]]


def int64_indices(tf):
    x = _cube(tf)
    i = _unknown(tf, 1, [], tf.int64)
    return [x[i], x[i:3], x[0, :i], x[np.int64(1)]]


def unknown_rank(tf):
    x = _unknown(tf, np.arange(12, dtype=np.float32).reshape(3, 4))
    return [x[0], x[..., 1], x[1:, None], tf.shape(x)[0], tf.shape(x)[1:]]


def gradients_of_indexing(tf):
    x = _cube(tf)
    return tf.gradients([x[1], x[:, 2:, ::2] * 2.0, x[..., -1], x[None, ::-1]], x)


def gradients_of_indexing_unknown_shapes(tf):
    x = _unknown(tf, np.arange(12, dtype=np.float32).reshape(3, 4))
    i = _unknown(tf, 1, [])
    return tf.gradients([x[i], x[i:, 1], x[..., None, 2]], x)


def second_gradients_of_indexing(tf):
    x = tf.constant([1.0, 2.0, 3.0])
    first = tf.gradients(x[1:] * x[:2], x)[0]
    return tf.gradients(first[::2] * x[0], x)


def strided_slice(tf):
    x = _cube(tf)
    return [
        tf.strided_slice(x, [0, 1, 2], [2, 3, 5]),
        tf.strided_slice(x, [0, 1, 2], [3, -1, 5], [2, 1, 1], name="s"),
        tf.strided_slice(x, [1, 0], [2, 2], [1, 1], begin_mask=2, shrink_axis_mask=1),
        tf.strided_slice(x, [0, 0, 1], [0, 0, 3], [1, 1, 1], ellipsis_mask=1, new_axis_mask=2),
    ]


def parts_of_variables(tf):
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="v")
    return [v[0], v[:, 1:]]


def assigned_parts_of_variables(tf):
    v = tf.Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="v")
    return [v[:, ::2].assign([[7.0, 8.0], [9.0, 10.0]])]

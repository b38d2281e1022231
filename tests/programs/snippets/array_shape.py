"""Shapes, reshaping, transposing, ranges."""

import numpy as np


def _unknown(tf, values, shape=None, dtype=None):
    """A tensor of which only `shape` is known while the graph is built."""
    return tf.placeholder_with_default(tf.constant(values, dtype), shape)


def shapes(tf):
    x = tf.zeros([2, 3])
    return [tf.shape(x), tf.size(x), tf.rank(x), tf.shape(x, out_type=tf.int64), tf.size(x, out_type=tf.int64)]


def shapes_unknown(tf):
    x = _unknown(tf, np.zeros([2, 3], np.float32), [None, 3])
    y = _unknown(tf, np.zeros([2, 3], np.float32))
    return [tf.shape(x), tf.size(x), tf.rank(x), tf.shape(y, name="s"), tf.size(y), tf.rank(y)]


def dimensions(tf):
    x = _unknown(tf, np.zeros([2, 3, 4], np.float32), [None, 3, 4])
    rows, columns = x.shape[1:]
    return [
        tf.stack([rows, 2]), tf.stack([rows, columns]), tf.stack([rows, tf.shape(x)[0]]),
        tf.reshape(x, [-1, rows * columns]), tf.ones(rows), tf.zeros([rows]), tf.zeros([rows, tf.shape(x)[0]]),
        tf.cast(rows, tf.float32), tf.range(rows), tf.constant([rows, 1], tf.int64),
    ]  # fmt: skip


def shape_n(tf):
    return tf.shape_n([tf.zeros([2, 3]), tf.zeros([4])]) + tf.shape_n([tf.zeros([])], out_type=tf.int64)


def reshapes(tf):
    x = tf.constant(np.arange(24, dtype=np.float32))
    return [tf.reshape(x, [2, -1, 3]), tf.reshape(x, (4, 6), name="r"), tf.reshape(tf.zeros([1]), [])]


def reshape_by_pieces_of_a_shape(tf):
    x = _unknown(tf, np.zeros([2, 3, 4], np.float32), [None, 3, 4])
    shape = tf.shape(x)
    return [
        tf.reshape(x, [shape[0], 12]),
        tf.reshape(x, tf.stack([shape[0] * 3, 4])),
        tf.reshape(x, tf.concat([shape[:1], [-1]], 0)),
        tf.reshape(x, [-1, x.shape[1].value * x.shape[2].value]),
    ]


def gradient_of_reshape(tf):
    x = tf.constant(np.arange(6, dtype=np.float32))
    y = _unknown(tf, np.arange(6, dtype=np.float32), [None])
    return tf.gradients([tf.reshape(x, [2, 3]), tf.reshape(y, [3, -1])], [x, y])


def expand_dims(tf):
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    y = _unknown(tf, np.zeros([2, 3], np.float32))
    return [tf.expand_dims(x, 0), tf.expand_dims(x, -1), tf.expand_dims(y, 1, name="e"), tf.expand_dims(x, dim=1)]


def squeeze(tf):
    x = tf.zeros([1, 2, 1, 3])
    y = _unknown(tf, np.zeros([1, 2, 1], np.float32), [None, 2, 1])
    return [tf.squeeze(x), tf.squeeze(x, [0]), tf.squeeze(x, -2), tf.squeeze(y), tf.squeeze(y, squeeze_dims=[0, 2])]


def gradients_of_expand_dims_and_squeeze(tf):
    x = tf.constant(np.arange(6, dtype=np.float32).reshape(1, 2, 3))
    y = _unknown(tf, np.arange(6, dtype=np.float32).reshape(1, 2, 3))
    return tf.gradients([tf.expand_dims(x, 1), tf.squeeze(x, 0), tf.expand_dims(y, -1), tf.squeeze(y)], [x, y])


def transposes(tf):
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return [tf.transpose(x), tf.transpose(x, [1, 0, 2], name="t"), tf.transpose(x, (0, 2, 1)), tf.matrix_transpose(x)]


def transposes_of_unknown_rank(tf):
    x = _unknown(tf, np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    return [tf.transpose(x), tf.transpose(x, [2, 0, 1]), tf.transpose(tf.constant(3.0)), tf.matrix_transpose(x)]


def gradient_of_transpose(tf):
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    y = _unknown(tf, np.arange(6, dtype=np.float32).reshape(2, 3))
    weights = tf.constant(np.arange(24, dtype=np.float32).reshape(4, 2, 3))
    return tf.gradients([tf.transpose(x, [2, 0, 1]) * weights, tf.transpose(y)], [x, y])


def invert_permutation(tf):
    return [tf.invert_permutation([2, 0, 1]), tf.invert_permutation(tf.constant([1, 0], tf.int64))]


def ranges(tf):
    five = _unknown(tf, 5, [])
    return [
        tf.range(5),
        tf.range(2, 9, 3),
        tf.range(9, 2, delta=-2, name="down"),
        tf.range(0.0, 1.0, 0.1),
        tf.range(five),
        tf.range(1, five),
        tf.range(3, dtype=tf.float64),
        tf.range(tf.constant(4, tf.int64), dtype=tf.int64),
    ]


def ranges_of_mixed_types(tf):
    return [tf.range(1, tf.constant(5, tf.int64)), tf.range(0, 1.5, 0.5), tf.range(tf.constant(2.0), 5)]


def linspace(tf):
    return [tf.linspace(0.0, 1.0, 7), tf.lin_space(3.0, -1.0, 3, name="l"), tf.linspace(2.0, 9.0, 1)]


def zeros_and_ones(tf):
    x = _unknown(tf, np.ones([2, 3], np.float32), [None, 3])
    return [
        tf.zeros([2, 3]),
        tf.ones((2,), tf.int32),
        tf.zeros([]),
        tf.zeros(3),
        tf.zeros(tf.shape(x)),
        tf.ones([tf.shape(x)[0], 2]),
        tf.zeros([40, 40])[0],
        tf.zeros_like(x),
        tf.ones_like(x),
        tf.zeros_like(x, dtype=tf.int64),
        tf.ones_like(x, optimize=False, name="o"),
        tf.zeros_like(tf.constant([1, 2])),
        tf.zeros([2], tf.bool),
    ]


def fills(tf):
    n = _unknown(tf, 3, [])
    return [tf.fill([2, 3], 7), tf.fill([n, 2], 0.5), tf.fill(tf.constant([2], tf.int64), True, name="f")]


def gradient_of_fill(tf):
    x = tf.constant(2.0)
    return tf.gradients(tf.fill([2, 3], x), x)


def identities(tf):
    x = tf.constant([1.0, 2.0])
    y = tf.identity(x)
    z = tf.stop_gradient(x * 3.0)
    return [y, z, tf.gradients(y * z, x)[0]]


def identity_n(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant(3)
    a, b = tf.identity_n([x, y])
    return [a, b, tf.gradients(a * 2.0, x)[0]]

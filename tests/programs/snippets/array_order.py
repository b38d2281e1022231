"""Reversing, rolling, diagonals, triangles, searching, counting."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.constant(values), shape)


def _cube(tf):
    return tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4), name="cube")


def reverses(tf):
    x = _cube(tf)
    return [
        tf.reverse(x, [0]), tf.reverse(x, axis=[-1, 1], name="r"), tf.reverse_v2(["a", "b"], [0]),
        tf.reverse(_unknown(tf, [1, 2, 3]), _unknown(tf, [0], [1])), tf.reverse([True, False], []),
    ]  # fmt: skip


def gradient_of_reverse(tf):
    x = _cube(tf)
    return tf.gradients(tf.reverse(x, [1]) * x, x)


def reverse_sequences(tf):
    x = _cube(tf)
    return [
        tf.reverse_sequence(x, [1, 3], 1, 0),
        tf.reverse_sequence(x, seq_lengths=tf.constant([4, 0, 2], tf.int64), seq_axis=2, batch_axis=1, name="s"),
        tf.reverse_sequence(x, [1, 2], seq_dim=2, batch_dim=0),
    ]


def gradient_of_reverse_sequence(tf):
    x = _cube(tf)
    return tf.gradients(tf.reverse_sequence(x, [2, 3], 1, 0) * x, x)


def rolls(tf):
    x = _cube(tf)
    return [tf.roll(x, 1, 0), tf.roll(x, [-1, 2], [1, 2], name="r"), tf.roll(["a", "b", "c"], shift=1, axis=0)]


def gradient_of_roll(tf):
    x = _cube(tf)
    return tf.gradients(tf.roll(x, [1, 2], [0, 2]) * x, x)


def diagonals(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    return [tf.diag([1, 2]), tf.diag(x, name="d"), tf.diag_part(x), tf.linalg.tensor_diag([1.0]),
            tf.linalg.tensor_diag_part(x, name="p"), tf.diag_part(tf.diag(x))]  # fmt: skip


def gradient_of_diagonals(tf):
    x = tf.constant([1.0, 2.0])
    return tf.gradients(tf.diag(x) * 2.0, x) + tf.gradients(tf.diag_part(tf.diag(x)), x)


def matrix_diagonals(tf):
    x = _cube(tf)
    return [
        tf.matrix_diag([[1.0, 2.0], [3.0, 4.0]]), tf.matrix_diag([1, 2], name="d"), tf.matrix_diag_part(x),
        tf.matrix_diag_part(x, name="p"), tf.matrix_set_diag(x, tf.zeros([2, 3])), tf.linalg.diag([True, False]),
        tf.linalg.diag_part(x), tf.linalg.set_diag(x, tf.ones([2, 3]), name="s"),
    ]  # fmt: skip


def gradient_of_matrix_diagonals(tf):
    x, d = _cube(tf), tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    u = _unknown(tf, np.ones([2, 2, 3], np.float32))
    return (
        tf.gradients(tf.matrix_diag(d) * 2.0, d)
        + tf.gradients(tf.matrix_diag_part(x) * d, [x, d])
        + tf.gradients(tf.matrix_set_diag(x, d) * x, [x, d])
        + tf.gradients(tf.matrix_set_diag(u, [[1.0, 2.0], [3.0, 4.0]]), u)
        + tf.gradients(tf.matrix_diag_part(u), u)
    )


def bands(tf):
    x = _cube(tf)
    return [tf.matrix_band_part(x, 0, -1), tf.matrix_band_part(x, 1, 0, name="b"), tf.linalg.band_part(x, -1, 1)]


def gradient_of_band(tf):
    x = _cube(tf)
    return tf.gradients(tf.matrix_band_part(x, 1, 0) * x, x)


def eyes(tf):
    n = _unknown(tf, 2, [])
    return [
        tf.eye(3), tf.eye(2, 3), tf.eye(3, 2, batch_shape=[2]), tf.eye(2, dtype=tf.int32, name="e"), tf.eye(n),
        tf.eye(n, 3), tf.linalg.eye(1),
    ]  # fmt: skip


def traces(tf):
    x = tf.constant(np.arange(9, dtype=np.float32).reshape(3, 3))
    return [tf.trace(x), tf.trace(tf.stack([x, x]), name="t"), tf.linalg.trace(x)] + tf.gradients(tf.trace(x), x)


def searches(tf):
    x = tf.constant([[1.0, 2.0, 2.0, 5.0], [0.0, 0.5, 3.0, 9.0]])
    values = [[2.0, 0.0, 6.0], [0.5, 9.0, -1.0]]
    return [
        tf.searchsorted(x, values), tf.searchsorted(x, values, side="right", name="s"),
        tf.searchsorted([1, 3, 5], [3, 4], out_type=tf.int64),
    ]  # fmt: skip


def counts(tf):
    return [
        tf.bincount([1, 1, 3]), tf.bincount([1, 1, 3], weights=[0.5, 1.0, 2.0]), tf.bincount([1, 5], minlength=3),
        tf.bincount([1, 5], minlength=7, maxlength=4, dtype=tf.float32), tf.math.bincount([[0, 2], [2, 2]]),
        tf.histogram_fixed_width([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5),
        tf.histogram_fixed_width([1, 2, 7], [0, 8], 4, tf.int64, name="h"),
        tf.histogram_fixed_width_bins([-1.0, 0.0, 1.5, 2.0, 5.0, 15.0], [0.0, 5.0], nbins=5),
    ]  # fmt: skip


def grids(tf):
    x, y = tf.constant([1, 2, 3]), [4, 5]
    return tf.meshgrid(x, y) + tf.meshgrid(x, y, indexing="ij", name="g") + tf.meshgrid([1.0], [2.0, 3.0], [4.0])


def unravel(tf):
    return [tf.unravel_index([22, 41, 37], (7, 6)), tf.unravel_index(5, [2, 3])]


def shape_checks(tf):
    x = _unknown(tf, np.ones([2, 3], np.float32))
    y = tf.ensure_shape(x, [None, 3])
    return [y, tf.ensure_shape(x, (2, None), name="e")] + tf.gradients(y * 2.0, x)

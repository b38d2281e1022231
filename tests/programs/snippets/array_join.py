"""Concatenating, stacking, splitting, unstacking."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.constant(values), shape)


def _matrix(rows, columns, start=0):
    return np.arange(start, start + rows * columns, dtype=np.float32).reshape(rows, columns)


def concat(tf):
    x, y = tf.constant(_matrix(2, 3)), tf.constant(_matrix(2, 3, 10))
    return [tf.concat([x, y], 0), tf.concat([x, y], axis=1, name="c"), tf.concat([x, y, x], -1), tf.concat([x], 0)]


def concat_of_other_things(tf):
    return [
        tf.concat([[1, 2], [3]], 0),
        tf.concat(values=[tf.constant([True]), [False]], axis=0),
        tf.concat([[1.0]], 0),
    ]


def concat_unknown(tf):
    x, y = _unknown(tf, _matrix(2, 3), [None, 3]), _unknown(tf, _matrix(1, 3))
    axis = _unknown(tf, 0, [])
    return [tf.concat([x, y], 0), tf.concat([x, x], 1), tf.concat([x, y], axis), tf.concat([y, y], -1)]


def gradient_of_concat(tf):
    x, y = tf.constant(_matrix(2, 3)), tf.constant(_matrix(2, 2, 10))
    z = tf.concat([x, y], 1)
    return tf.gradients(z * tf.constant(_matrix(2, 5)), [x, y])


def gradient_of_concat_from_the_end(tf):
    x, y = tf.constant(_matrix(2, 3)), tf.constant(_matrix(2, 2, 10))
    return tf.gradients(tf.concat([x, y, x], -1), [x, y])


def gradient_of_concat_of_unknown_shapes(tf):
    x, y = _unknown(tf, _matrix(2, 3), [None, 3]), tf.constant(_matrix(1, 3))
    z = tf.concat([y, x], 0)
    return tf.gradients(z * z, [x, y])


def gradient_of_a_long_concat(tf):
    parts = [tf.constant(_matrix(1, i % 3 + 1)) for i in range(18)]
    whole = tf.concat(parts, 1)
    return tf.gradients(whole * tf.constant(_matrix(1, 36)), parts[:3])


def stacks(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    return [tf.stack([x, y]), tf.stack([x, y], axis=1, name="s"), tf.stack([x, y], -1), tf.stack([1, 2, 3])]


def stacks_of_mixed_things(tf):
    n = _unknown(tf, 3, [])
    return [
        tf.stack([n, 2]),
        tf.stack([[n, 1], [2, n]]),
        tf.stack([[1, 2], [n, n]], axis=1),
        tf.parallel_stack([[1], [2]]),
    ]


def gradient_of_stack(tf):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    return tf.gradients([tf.stack([x, y]) * tf.constant(_matrix(2, 2)), tf.stack([x, y, x], axis=1)], [x, y])


def unstacks(tf):
    x = tf.constant(_matrix(2, 3))
    y = _unknown(tf, _matrix(2, 3))
    return tf.unstack(x) + tf.unstack(x, axis=1, name="u") + tf.unstack(y, num=2) + tf.unstack(x, 3, -1)


def unstack_nothing(tf):
    assert tf.unstack(tf.zeros([0, 2])) == tf.unstack(tf.zeros([2, 0]), axis=1) == []


def gradient_of_unstack(tf):
    x = tf.constant(_matrix(2, 3))
    a, b, c = tf.unstack(x, axis=1)
    return tf.gradients([a * b, c], x) + tf.gradients(a, x)


def splits(tf):
    x = tf.constant(_matrix(4, 6))
    return tf.split(x, 2) + tf.split(x, 3, axis=1, name="p") + tf.split(value=x, num_or_size_splits=2, axis=-1)


def splits_by_size(tf):
    x = tf.constant(_matrix(4, 6))
    sizes = _unknown(tf, [1, 3], [2])
    return tf.split(x, [1, 3]) + tf.split(x, [1, -1, 2], 1) + tf.split(x, sizes) + tf.split(x, sizes, num=2)


def splits_of_unknown_shapes(tf):
    x = _unknown(tf, _matrix(4, 6), [None, 6])
    y = _unknown(tf, _matrix(4, 6))
    return tf.split(x, 2) + tf.split(x, 3, 1) + tf.split(y, [2, 4], 1) + tf.split(y, 2, _unknown(tf, 0, []))


def gradient_of_split(tf):
    x = tf.constant(_matrix(4, 6))
    a, b = tf.split(x, 2)
    c, d, _ = tf.split(x, [1, 2, 3], 1)
    return tf.gradients([a * b, c], x) + tf.gradients([b, d], x)


def parts_that_nobody_reads_get_zeros(tf):
    x = _unknown(tf, _matrix(4, 6), [None, 6])
    a, _, _ = tf.split(x, 3, 1)
    return tf.gradients(a, x)

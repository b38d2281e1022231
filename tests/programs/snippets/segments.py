"""Rows put together, dealt out, made unique, reduced by segment."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.constant(values), shape)


def _rows(tf):
    return tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3) - 5, name="rows")


def stitches(tf):
    return [
        tf.dynamic_stitch([[0, 2], [1]], [[1.0, 3.0], [2.0]]),
        tf.dynamic_stitch([2, [0, 1], 0], [[5, 6], [[1, 2], [3, 4]], [7, 8]], name="s"),
        tf.dynamic_stitch([_unknown(tf, [1, 0], [None])], [["b", "a"]]),
    ]


def partitions(tf):
    x = _rows(tf)
    return tf.dynamic_partition(x, [0, 1, 0, 2], 3) + tf.dynamic_partition(x, _unknown(tf, [1, 0, 1, 1]), 2, name="p")


def gradient_of_stitch(tf):
    x, y = _rows(tf), tf.constant([[1.0, 2.0, 3.0]])
    whole = tf.dynamic_stitch([[0, 2, 1, 3], [1]], [x, y])
    return tf.gradients(whole * whole, [x, y])


def gradient_of_partition(tf):
    x = _rows(tf)
    a, b = tf.dynamic_partition(x, [0, 1, 0, 0], 2)
    return tf.gradients([a * a, b], x) + tf.gradients(a, x)


def uniques(tf):
    x = tf.constant([3, 1, 3, 2, 1])
    return (
        list(tf.unique(x))
        + list(tf.unique(["b", "a", "b"], tf.int64, name="u"))
        + list(tf.unique_with_counts(x))
        + list(tf.unique_with_counts([1.5, 1.5], out_idx=tf.int64))
    )


def differences(tf):
    x = tf.constant([3, 1, 3, 2, 1])
    return list(tf.setdiff1d(x, [1, 7])) + list(tf.setdiff1d(["a", "b"], ["b"], tf.int64, name="d"))


def wheres(tf):
    x = tf.constant([[True, False], [False, True]])
    return [tf.where(x), tf.where([True, True], name="w"), tf.where(_unknown(tf, [1.0, 0.0])), tf.where(x, None, None)]


def masks(tf):
    x = _rows(tf)
    y = _unknown(tf, [True, False, True, True], [None])
    return [
        tf.boolean_mask(x, [True, False, True, True]),
        tf.boolean_mask(x, y, name="m"),
        tf.boolean_mask(x, [True, False, True], axis=1),
        tf.boolean_mask(x, x > 0),
    ]


def gradient_of_mask(tf):
    x = _rows(tf)
    return tf.gradients(tf.boolean_mask(x, [True, False, True, True]) * 2.0, x)


_SEGMENTS = ("sum", "mean", "prod", "min", "max")


def _segment(name):
    def snippet(tf):
        function = getattr(tf, "segment_" + name)
        x = _rows(tf)
        return [
            function(x, [0, 0, 1, 3]),
            function(_unknown(tf, [1, 2, 3]), tf.constant([0, 1, 1], tf.int64), name="named"),
            getattr(tf.math, "segment_" + name)(x, _unknown(tf, [0, 1, 1, 1])),
        ]

    return snippet


def _segment_gradient(name):
    def snippet(tf):
        x = _rows(tf)
        y = _unknown(tf, np.array([[1.0], [1.0], [2.0]], np.float32))
        function = getattr(tf, "segment_" + name)
        return tf.gradients(function(x, [0, 0, 1, 3]), x) + tf.gradients(function(y, [0, 0, 1]), y)

    return snippet


def _unsorted(name):
    def snippet(tf):
        function = getattr(tf, "unsorted_segment_" + name)
        x = _rows(tf)
        return [
            function(x, [2, 0, 2, -1], 3),
            function(x, [[0, 1, 0], [1, 1, 1], [0, 0, 0], [-1, 0, 1]], _unknown(tf, 2, []), name="named"),
        ]

    return snippet


def _unsorted_gradient(name):
    def snippet(tf):
        function = getattr(tf.math, "unsorted_segment_" + name)
        x = tf.constant([[1.0, 0.0], [3.0, 0.0], [1.0, 5.0], [2.0, 2.0]])
        return tf.gradients(function(x, [2, 0, 2, -1], 3), x)

    return snippet


def _sparse(name):
    def snippet(tf):
        function = getattr(tf, "sparse_segment_" + name)
        x = _rows(tf)
        return [
            function(x, [0, 2, 1], [0, 0, 1]),
            function(x, [3, 3], [0, 2], name="named", num_segments=4),
            getattr(tf.sparse, "segment_" + name)(x, [3, 1], [1, 1]),
        ]

    return snippet


def _sparse_gradient(name):
    def snippet(tf):
        function = getattr(tf, "sparse_segment_" + name)
        x = _rows(tf)
        return tf.gradients(function(x, [0, 2, 0], [0, 0, 1]), x) + tf.gradients(
            function(x, [1, 2], [0, 0], num_segments=2), x
        )

    return snippet


for _name in _SEGMENTS:
    globals()["segment_" + _name] = _segment(_name)
    if _name != "prod":
        globals()["gradient_of_segment_" + _name] = _segment_gradient(_name)
for _name in ("sum", "mean", "prod", "min", "max", "sqrt_n"):
    globals()["unsorted_" + _name] = _unsorted(_name)
    globals()["gradient_of_unsorted_" + _name] = _unsorted_gradient(_name)
for _name in ("sum", "mean", "sqrt_n"):
    globals()["sparse_" + _name] = _sparse(_name)
    globals()["gradient_of_sparse_" + _name] = _sparse_gradient(_name)

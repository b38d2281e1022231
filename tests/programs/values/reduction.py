"""Reductions, for all types and axes."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case

NAMES = "sum mean prod max min euclidean_norm".split()


def cases(tf):
    found = {}
    for name in NAMES:
        reduce = getattr(tf.math, "reduce_" + name)
        for dtype in FLOATS + INTEGERS:
            x = np.arange(24).reshape(4, 6) % (7 if dtype in INTEGERS or name != "prod" else 3) + 1
            for axis in (0, 1, None):
                found["{}_{}_{}".format(name, dtype, axis)] = case(
                    lambda x, reduce=reduce, axis=axis: reduce(x, axis), (dtype, x)
                )
            if dtype in INTEGERS:  # overflow
                big = np.full([5], np.iinfo(dtype).max // 2, dtype)
                found["{}_{}_big".format(name, dtype)] = case(reduce, (dtype, big))
            if name != "mean":
                found["{}_{}_none".format(name, dtype)] = case(lambda x, reduce=reduce: reduce(x, 0), (dtype, x[:0]))
        found["{}_special".format(name)] = case(reduce, ("float32", [np.inf, -np.inf, 1]))
    for name in ("all", "any"):
        reduce = getattr(tf.math, "reduce_" + name)
        for axis in (0, 1, None):
            bits = np.array([[1, 1, 0], [1, 0, 0]])
            found["{}_{}".format(name, axis)] = case(lambda x, r=reduce, axis=axis: r(x, axis), ("bool", bits))
            found["{}_{}_none".format(name, axis)] = case(
                lambda x, r=reduce, axis=axis: r(x, axis), ("bool", bits[:, :0])
            )
    for known in (True, False):
        for name, axes in (("axis", 5), ("negative", -3), ("twice", [0, 0]), ("same", [0, -2]), ("matrix", [[0]])):
            found["{}_{}".format(name, known)] = case(
                lambda x, axes=axes: tf.reduce_sum(x, axes), ("float32", np.zeros([2, 3])), known=known
            )
        found["fed_axis_{}".format(known)] = case(tf.reduce_sum, ("float32", np.ones([2, 3])), ("int64", -1), known=known)
    found["bool"] = case(tf.reduce_sum, ("bool", [1]))
    found["not_bool"] = case(tf.reduce_all, ("int32", [1]))
    return found

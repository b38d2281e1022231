"""Comparisons, logic and choices, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case, numbers


def cases(tf):
    found = {}
    for name in "equal not_equal less less_equal greater greater_equal".split():
        for dtype in FLOATS + INTEGERS + ("bool",):
            x = numbers(dtype)
            found["{}_{}".format(name, dtype)] = case(getattr(tf.math, name), (dtype, x[:, None]), (dtype, x))
    for dtype in FLOATS + INTEGERS:
        x = numbers(dtype)
        for name in ("where", "where_v2"):
            found["{}_{}".format(name, dtype)] = case(
                getattr(tf, name), ("bool", np.arange(x.size) % 2), (dtype, x), (dtype, x[::-1])
            )
    bits = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    for name in ("logical_and", "logical_or", "logical_xor"):
        found[name] = case(getattr(tf, name), ("bool", bits[0]), ("bool", bits[1]))
    found["logical_not"] = case(tf.logical_not, ("bool", bits[0]))
    for shape in ((), (2,), (3,), (2, 3), (1, 3)):
        condition, x = np.arange(int(np.prod(shape))).reshape(shape) % 2, np.arange(6).reshape(2, 3)
        for known in (True, False):
            for name in ("where", "where_v2"):
                found["{}_by_{}_{}".format(name, "x".join(map(str, shape)), known)] = case(
                    getattr(tf, name), ("bool", condition), ("float32", x), ("float32", -x), known=known
                )
    for known in (True, False):
        found["where_branches_{}".format(known)] = case(
            tf.where, ("bool", [1, 0]), ("float32", [1, 2]), ("float32", [1, 2, 3]), known=known
        )
        found["less_shapes_{}".format(known)] = case(tf.less, ("int32", [1, 2]), ("int32", [1, 2, 3]), known=known)
    return found

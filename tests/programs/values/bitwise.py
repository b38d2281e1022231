"""Ops on the bits of integers."""

import numpy as np

from programs.values import INTEGERS, case, numbers


def cases(tf):
    found = {}
    for dtype in INTEGERS:
        x = numbers(dtype)
        for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
            found["{}_{}".format(name, dtype)] = case(getattr(tf.bitwise, name), (dtype, x[:, None]), (dtype, x))
        bits = np.dtype(dtype).itemsize * 8
        shifts = np.array([0, 1, 2, 7, bits - 1, bits, bits + 1, 100])
        shifts = shifts if dtype.startswith("u") else np.append(shifts, [-1, -100])
        for name in ("left_shift", "right_shift"):
            found["{}_{}".format(name, dtype)] = case(getattr(tf.bitwise, name), (dtype, x[:, None]), (dtype, shifts))
        found["invert_" + dtype] = case(tf.bitwise.invert, (dtype, x))
    found["float"] = case(tf.bitwise.invert, ("float32", [1]))
    for known in (True, False):
        found["shapes_{}".format(known)] = case(
            tf.bitwise.bitwise_and, ("int32", [1, 2]), ("int32", [1, 2, 3]), known=known
        )
    return found

"""All divisions, remainders and shifts, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case, numbers

NAMES = "floordiv floormod mod truncatediv truncatemod truediv div divide div_no_nan multiply_no_nan realdiv".split()


def cases(tf):
    found = {}
    for name in NAMES:
        for dtype in ("float32", "float64") + INTEGERS:
            x = numbers(dtype)
            if dtype in INTEGERS:  # larger ones overflow in TensorFlow, or end its process
                most = int(x.max()) // 2
                x = np.array([value for value in x.tolist() if -most <= value <= most], dtype)
            divisors = x if dtype in FLOATS and name != "truncatediv" else x[(x != 0) & (abs(x) < 1e300)]
            function = getattr(tf, name, None) or getattr(tf.math, name)
            found["{}_{}".format(name, dtype)] = case(function, (dtype, x[:, None]), (dtype, divisors))
            if dtype in INTEGERS:
                found["{}_{}_zero".format(name, dtype)] = case(function, (dtype, x), (dtype, np.zeros(x.size)))
    for dtype in ("float32", "float64"):
        found["reciprocal_no_nan_" + dtype] = case(tf.math.reciprocal_no_nan, (dtype, numbers(dtype)))
    found["mixed"] = case(tf.truediv, ("int32", [1]), ("float32", [1]))
    found["bool"] = case(tf.truediv, ("bool", [1]), ("bool", [1]))
    return found

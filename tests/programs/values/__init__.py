"""Single ops over many types and values, evaluated by both TensorFlow and stillflow.

Each module has a function `cases(tf)` that returns {name: Case}. What TensorFlow makes of them is recorded in
tests/golden/values. The code here runs under Python 3.7 as well.
"""

from collections import namedtuple

import numpy as np

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")

# build(*placeholders) makes a tensor; inputs are (dtype name, array) pairs. Shapes are known while building, if
# `known` says so.
Case = namedtuple("Case", ["build", "inputs", "known"])


def case(build, *inputs, **options):
    return Case(build, inputs, options.get("known", True))


def evaluate(tf, case):
    """The value of a case, or the type and first line of the error that it ends in, as a string."""
    try:
        with tf.Graph().as_default():
            feeds = {}
            for dtype, array in case.inputs:
                placeholder = tf.placeholder(dtype, np.shape(array) if case.known else None)
                feeds[placeholder] = np.asarray(array).astype(tf.as_dtype(dtype).as_numpy_dtype)
            output = case.build(*feeds)
            with tf.Session() as session:
                if tf.global_variables():
                    session.run(tf.global_variables_initializer())
                return session.run(output, feeds)
    except (TypeError, ValueError, tf.errors.OpError) as error:
        return "{}: {}".format(type(error).__name__, str(getattr(error, "message", error)).split("\n")[0])


def numbers(dtype):
    """Ordinary and extreme values of a type, as an array of float64 or of the type itself."""
    if dtype == "bool":
        return np.array([False, True, True])
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        small = [0, 1, 2, 3, 5, 7, 100, 127, info.max - 1, info.max, info.min, info.min + 1]
        return np.array(small + ([-1, -2, -3, -7, -100] if info.min < 0 else []), dtype)
    values = [0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 7.0, 10.0, 20.5, 80.0, 1e3, 3e4]
    values = [-value for value in reversed(values)] + values
    return np.array(values + [np.nan, np.inf, -np.inf])

"""argmax and argmin, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case


def cases(tf):
    found = {}
    values = np.array([[3, 1, 3, 1], [2, 2, 2, 2], [0, 9, 9, 0]])
    for name in ("argmax", "argmin"):
        find = getattr(tf, name)
        for dtype in FLOATS + INTEGERS + ("bool",):
            for axis in (0, 1, -1, None):
                found["{}_{}_{}".format(name, dtype, axis)] = case(
                    lambda x, find=find, axis=axis: find(x, axis),
                    # Of these types TensorFlow finds the last of equals in a row.
                    (dtype, np.array([[5, 2, 8, 1], [4, 0, 3, 9], [6, 11, 7, 10]]) if dtype in ("uint32", "uint64") else values),
                )
        found[name + "_int32"] = case(lambda x, find=find: find(x, 1, output_type=tf.int32), ("float32", values))
        for i, special in enumerate(
            ([1, np.nan, 2], [np.nan, 1, 2], [1, 2, np.nan], [np.nan] * 3, [-np.inf] * 2, [np.inf] * 2, [0.0, -0.0])
        ):
            found["{}_special_{}".format(name, i)] = case(find, ("float32", special))
        for known in (True, False):
            found["{}_axis_{}".format(name, known)] = case(lambda x, f=find: f(x, 2), ("float32", values), known=known)
            found["{}_empty_{}".format(name, known)] = case(lambda x, f=find: f(x, 0), ("float32", values[:0]), known=known)
            found["{}_empty_rows_{}".format(name, known)] = case(
                lambda x, f=find: f(x, 1), ("float32", values[:0]), known=known
            )
            found["{}_scalar_{}".format(name, known)] = case(lambda x, f=find: f(x, 0), ("float32", 1), known=known)
            found["{}_axes_{}".format(name, known)] = case(find, ("float32", values), ("int32", [0, 1]), known=known)
    return found

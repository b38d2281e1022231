"""cumsum and cumprod, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case


def cases(tf):
    found = {}
    values = np.arange(12).reshape(3, 4) % 5 + 1
    for name in ("cumsum", "cumprod"):
        run = getattr(tf, name)
        for dtype in FLOATS + INTEGERS + ("bool",):
            found["{}_{}".format(name, dtype)] = case(run, (dtype, values))
        for axis in (0, 1, -1, -2):
            for exclusive in (False, True):
                for reverse in (False, True):
                    found["{}_{}_{}_{}".format(name, axis, exclusive, reverse)] = case(
                        lambda x, run=run, a=axis, e=exclusive, r=reverse: run(x, a, e, r), ("float64", values)
                    )
        for known in (True, False):
            for axis in (2, 5):
                found["{}_axis_{}_{}".format(name, axis, known)] = case(
                    lambda x, run=run, axis=axis: run(x, axis), ("float32", values), known=known
                )
            found["{}_axes_{}".format(name, known)] = case(run, ("float32", values), ("int32", [0, 1]), known=known)
            found["{}_scalar_{}".format(name, known)] = case(run, ("float32", 1), known=known)
            found["{}_empty_{}".format(name, known)] = case(run, ("float32", values[:0]), known=known)
        found[name + "_nan"] = case(run, ("float32", [1, np.nan, 2, np.inf, -np.inf]))
        found[name + "_bytes"] = case(run, ("int8", [100, 100, 100]))
    return found

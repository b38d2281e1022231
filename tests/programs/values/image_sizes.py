"""Images of another size: all types, and what is said of sizes that do not fit."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case

METHODS = ("bilinear", "nearest_neighbor", "bicubic", "area")


def cases(tf):
    found = {}
    image = np.arange(60).reshape(1, 4, 5, 3) * 2
    for method in METHODS:
        function = getattr(tf.image, "resize_" + method)
        for dtype in FLOATS + INTEGERS[:6]:
            if dtype != "bfloat16" or method == "bilinear":
                found[method + "_" + dtype] = case(function, (dtype, image), ("int32", [7, 3]))
        for name, shape, size in (
            ("zero", (1, 2, 2, 1), [0, 3]),
            ("negative", (1, 2, 2, 1), [3, -1]),
            ("empty", (1, 0, 2, 1), [3, 3]),
            ("batch", (0, 2, 2, 1), [3, 3]),
            ("channels", (1, 2, 2, 0), [3, 3]),
            ("rank", (2, 2, 1), [3, 3]),
            ("size_rank", (1, 2, 2, 1), [[3, 3]]),
            ("size_count", (1, 2, 2, 1), [3, 3, 3]),
        ):
            inputs = (("float32", np.ones(shape)), ("int32", size))
            found["{}_{}".format(method, name)] = case(function, *inputs, known=False)
    return found

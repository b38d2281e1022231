"""Updates of variables, as a whole and in part, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case

SCATTERS = "update add sub mul div min max".split()
TABLE = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])


def cases(tf):
    def scatter(name, dtype="float32"):
        return lambda i, u: getattr(tf, "scatter_" + name)(variable(tf, TABLE, dtype), i, u)

    def assign(name, dtype="float32"):
        return lambda x: getattr(tf, name)(variable(tf, [1, 2, 100], dtype), x)

    found = {}
    for dtype in FLOATS + INTEGERS + ("bool",):
        for name in ("assign", "assign_add", "assign_sub"):
            found["{}_{}".format(name, dtype)] = case(assign(name, dtype), (dtype, [3, 2, 100]))
        for name in SCATTERS:
            for index in ("int32", "int64"):
                updates = np.array([[2, 3], [1, 1], [3, 2]])
                found["{}_{}_{}".format(name, dtype, index)] = case(
                    scatter(name, dtype), (index, [2, 0, 2]), (dtype, updates)
                )
    for name in SCATTERS:
        found[name + "_scalar"] = case(scatter(name), ("int32", [1, 3]), ("float32", 2))
        found[name + "_one"] = case(scatter(name), ("int32", 1), ("float32", [2, 3]))
        found[name + "_matrix"] = case(scatter(name), ("int32", [[0, 1], [2, 1]]), ("float32", np.full((2, 2, 2), 2)))
        found[name + "_none"] = case(scatter(name), ("int32", []), ("float32", np.zeros((0, 2))))
        for known in (True, False):
            for kind, indices, updates in (
                ("high", [0, 4], np.ones((2, 2))), ("low", [-1, 0], np.ones((2, 2))), ("high_scalar", [4], 1),
                ("rows", [0, 1], np.ones((3, 2))), ("width", [0, 1], np.ones((2, 3))), ("rank", [0, 1], np.ones(2)),
            ):
                found["{}_{}_{}".format(name, kind, known)] = case(
                    scatter(name), ("int32", indices), ("float32", updates), known=known
                )
    for known in (True, False):
        for name in ("assign", "assign_add"):
            found["{}_shape_{}".format(name, known)] = case(assign(name), ("float32", [1, 2]), known=known)
        for name in ("nd_update", "nd_add", "nd_sub"):
            for kind, indices, updates in (
                ("rows", [[3], [0], [3]], np.arange(6).reshape(3, 2)), ("items", [[3, 1], [0, 0], [3, 1]], [1, 2, 3]),
                ("high", [[0], [4]], np.ones((2, 2))), ("low", [[0, -1]], [1]), ("deep", [[0, 0, 0]], [1]),
                ("count", [[0], [1]], np.ones((3, 2))), ("width", [[0], [1]], np.ones((2, 3))),
            ):
                found["{}_{}_{}".format(name, kind, known)] = case(
                    scatter(name), ("int32", indices), ("float32", updates), known=known
                )
    found["vector"] = case(
        lambda i, u: tf.scatter_add(variable(tf, 5, "float32"), i, u), ("int32", [0]), ("float32", [1]), known=False
    )
    return found


def variable(tf, values, dtype):
    return tf.Variable(np.asarray(values).astype(tf.as_dtype(dtype).as_numpy_dtype), dtype=dtype, name="v")

"""Ops on sparse tensors, for all types and for input that does not fit."""

import numpy as np

from programs.values import FLOATS, case

PLACES = [[0, 1], [1, 0], [1, 2]]
SHAPE = [2, 3]
DENSE = [[1, 2, 3], [4, 5, 6]]
NUMBERS = FLOATS + ("int8", "int16", "int32", "int64", "uint8")
# Input that does not fit: a row where a matrix is asked for, and so on.
BAD = {
    "indices": ([0, 1], [1, 2], SHAPE),
    "values": (PLACES, [[1, 2, 3]], SHAPE),
    "shape": (PLACES, [1, 2, 3], [SHAPE]),
    "count": (PLACES, [1, 2, 3, 4], SHAPE),
}


def sparse(places=PLACES, values=(1, 2, 3), shape=SHAPE, dtype="float32"):
    """The inputs of a case that make a sparse tensor."""
    return ("int64", places), (dtype, values), ("int64", shape)


def other(dtype="float32", shape=SHAPE):
    return sparse([[0, 0], [1, 2]], [4, 5], shape, dtype)


def flat(tf, result):
    """All parts of a sparse tensor in one vector."""
    if not hasattr(result, "dense_shape"):
        return result
    parts = [tf.reshape(result.indices, [-1]), result.values, result.dense_shape]
    return tf.concat([tf.cast(part, tf.float64) for part in parts], 0)


def cases(tf):
    def one(function):
        return lambda *inputs: flat(tf, function(tf.SparseTensor(*inputs[:3]), *inputs[3:]))

    def two(function):
        return lambda *inputs: flat(tf, function(tf.SparseTensor(*inputs[:3]), tf.SparseTensor(*inputs[3:])))

    def kept_loosely(function):
        """The function of a sparse tensor whose parts need not fit each other."""

        def build(indices, values, shape, *rest):
            loose = tf.SparseTensor([[0]], tf.zeros([1], values.dtype), [1])
            loose._indices, loose._values, loose._dense_shape = indices, values, shape
            return flat(tf, function(loose, *rest))

        return build

    found = {}
    for dtype in NUMBERS:
        x = sparse(dtype=dtype)
        found["add_" + dtype] = case(two(tf.sparse_add), *(x + other(dtype)))
        found["dense_add_" + dtype] = case(one(tf.sparse_add), *(x + ((dtype, DENSE),)))
        found["maximum_" + dtype] = case(two(tf.sparse_maximum), *(x + other(dtype)))
        found["minimum_" + dtype] = case(two(tf.sparse_minimum), *(x + other(dtype)))
        found["mul_" + dtype] = case(one(lambda s, d: s * d), *(x + ((dtype, [2, 3, 4]),)))
        found["truediv_" + dtype] = case(one(lambda s, d: s / d), *(x + ((dtype, [[2], [4]]),)))
        found["matmul_" + dtype] = case(one(tf.sparse_tensor_dense_matmul), *(x + ((dtype, np.transpose(DENSE)),)))
        found["sum_" + dtype] = case(one(lambda s: tf.sparse_reduce_sum(s, 1)), *x)
        found["max_" + dtype] = case(one(lambda s: tf.sparse_reduce_max(s, 1)), *x)
        found["fill_" + dtype] = case(one(lambda s: tf.sparse_fill_empty_rows(s, s.values[0])[0]), *x)
    for dtype in ("float32", "float64"):
        found["softmax_" + dtype] = case(one(tf.sparse_softmax), *sparse(dtype=dtype))
    _orders(tf, found, one)
    _reductions(tf, found, one)
    _merges(tf, found, two)
    _misfits(tf, found, kept_loosely)
    return found


def _orders(tf, found, one):
    mixed = sparse([[1, 2], [0, 1], [1, 0]])
    found["reorder"] = case(one(tf.sparse_reorder), *mixed)
    found["reorder_repeated"] = case(one(tf.sparse_reorder), *sparse([[1, 1], [0, 1], [1, 1]]))
    found["reorder_none"] = case(one(tf.sparse_reorder), *sparse(np.zeros((0, 2)), []))
    found["transpose"] = case(one(tf.sparse_transpose), *mixed)
    for name, target in (
        ("two", [3, 2]), ("flat", [-1]), ("more", [2, 1, 3]), ("unknown", [3, -1]), ("unknowns", [-1, -1]),
        ("large", [4, 2]), ("odd", [4, -1]), ("negative", [-2, 3]), ("rank", [[6]]), ("same", [2, 3]),
    ):  # fmt: skip
        found["reshape_" + name] = case(one(tf.sparse_reshape), *(sparse() + (("int64", target),)), known=False)
    found["reshape_empty"] = case(
        one(tf.sparse_reshape), *(sparse(np.zeros((0, 2)), [], [0, 3]) + (("int64", [3, -1]),)), known=False
    )
    found["reshape_unknown_empty"] = case(
        one(tf.sparse_reshape), *(sparse(np.zeros((0, 2)), [], [0, 3]) + (("int64", [-1, 0]),)), known=False
    )
    for name, start, size in (
        ("all", [0, 0], [9, 9]), ("part", [0, 1], [2, 1]), ("none", [0, 0], [0, 3]), ("start", [0], [1, 1]),
        ("size", [0, 0], [1]), ("matrix", [[0, 0]], [1, 1]),
    ):  # fmt: skip
        inputs = sparse() + (("int64", start), ("int64", size))
        found["slice_" + name] = case(one(tf.sparse_slice), *inputs, known=False)
    for axis, count in ((0, 2), (1, 2), (1, 3), (1, 4), (2, 1)):
        for part in range(min(count, 2)):
            found["split_{}_{}_{}".format(axis, count, part)] = case(
                one(lambda s, axis=axis, count=count, part=part: tf.sparse_split(
                    sp_input=s, num_split=count, axis=axis)[part]),
                *sparse(), known=False
            )  # fmt: skip
    for name, mask in (("some", [True, False, True]), ("none", [False] * 3)):
        found["retain_" + name] = case(one(tf.sparse_retain), *(sparse() + (("bool", mask),)))
    for name, places, rows in (
        ("some", [[1, 0], [3, 1]], 5), ("mixed", [[3, 0], [1, 1]], 4), ("high", [[5, 0], [0, 1]], 2),
        ("low", [[-1, 0], [0, 1]], 2), ("no_rows", [[0, 0], [1, 0]], 0),
    ):  # fmt: skip
        found["fill_" + name] = case(
            one(lambda s: tf.sparse_fill_empty_rows(s, 9.0)[0]), *sparse(places, [1, 2], [rows, 3]), known=False
        )
    found["fill_indicator"] = case(
        one(lambda s: tf.sparse_fill_empty_rows(s, 9.0)[1]), *sparse([[1, 0], [3, 1]], [1, 2], [5, 3])
    )
    found["softmax_mixed"] = case(one(tf.sparse_softmax), *sparse([[0, 0], [1, 0], [0, 1]]))
    found["softmax_vector"] = case(one(tf.sparse_softmax), *sparse([[0], [1]], [1, 2], [3]), known=False)
    found["dense_high"] = case(
        one(lambda s, d: tf.sparse_add(s, d)), *(sparse([[0, 5]], [1]) + (("float32", DENSE),)), known=False
    )
    found["mul_high"] = case(one(lambda s, d: s * d), *(sparse([[0, 5]], [1]) + (("float32", DENSE),)), known=False)


def _reductions(tf, found, one):
    for name, places in (("sorted", [[0, 0], [0, 2], [1, 1]]), ("mixed", [[1, 0], [0, 2], [0, 1]])):
        for axes in (0, 1, -1, [0, 1], [], [0, 0], 2, [[1]]):
            for keepdims in (False, True):
                for kind in ("sum", "max", "sum_sparse", "max_sparse"):
                    found["{}_{}_{}_{}".format(kind, name, axes, keepdims)] = case(
                        one(lambda s, a, kind=kind, keepdims=keepdims: getattr(tf, "sparse_reduce_" + kind)(
                            s, a, keepdims=keepdims)),
                        *(sparse(places, [1, -2, 3], [3, 3]) + (("int32", axes),)), known=False
                    )  # fmt: skip


def _merges(tf, found, two):
    for threshold in (0.0, 2.5, 1e9):
        found["add_above_{}".format(threshold)] = case(
            two(lambda a, b, t=threshold: tf.sparse_add(a, b, t)), *(sparse() + other())
        )
    for name, second in (("sizes", other(shape=[2, 4])), ("ranks", sparse([[0]], [1], [2]))):
        for function in ("add", "maximum", "minimum"):
            found["{}_{}".format(function, name)] = case(
                two(getattr(tf, "sparse_" + function)), *(sparse() + second), known=False
            )
        for axis in (0, 1, -1, 2):
            found["concat_{}_{}".format(axis, name)] = case(
                two(lambda a, b, axis=axis: tf.sparse_concat(axis, [a, b])), *(sparse() + second), known=False
            )
    found["add_nan"] = case(two(tf.sparse_add), *(sparse(values=[np.nan, 1, np.inf]) + other()))
    found["add_cancelled"] = case(
        two(lambda a, b: tf.sparse_add(a, b, 0.5)), *(sparse() + sparse(values=[-1, -1, -1]))
    )
    for axis in (0, 1):
        found["concat_mixed_{}".format(axis)] = case(
            two(lambda a, b, axis=axis: tf.sparse_concat(axis, [a, b])), *(sparse([[1, 0], [0, 1], [0, 0]]) + other())
        )


def _misfits(tf, found, loosely):
    functions = {
        "reorder": (tf.sparse_reorder, ()),
        "slice": (lambda s, a, b: tf.sparse_slice(s, a, b), (("int64", [0, 0]), ("int64", [1, 1]))),
        "split": (lambda s: tf.sparse_split(sp_input=s, num_split=2, axis=1)[0], ()),
        "sum": (lambda s: tf.sparse_reduce_sum(s, 1), ()),
        "softmax": (tf.sparse_softmax, ()),
        "matmul": (tf.sparse_tensor_dense_matmul, (("float32", np.transpose(DENSE)),)),
        "matmul_inner": (tf.sparse_tensor_dense_matmul, (("float32", DENSE),)),
        "matmul_vector": (tf.sparse_tensor_dense_matmul, (("float32", [1, 2, 3]),)),
        "dense_add": (tf.sparse_add, (("float32", DENSE),)),
        "dense_add_sizes": (tf.sparse_add, (("float32", np.transpose(DENSE)),)),
        "dense_add_rank": (tf.sparse_add, (("float32", [1, 2]),)),
        "mul": (lambda s, d: s * d, (("float32", DENSE),)),
        "mul_sizes": (lambda s, d: s * d, (("float32", [1, 2]),)),
        "mul_rank": (lambda s, d: s * d, (("float32", [DENSE]),)),
        "add": (lambda s: tf.sparse_add(s, s), ()),
        "maximum": (lambda s: tf.sparse_maximum(s, s), ()),
        "fill": (lambda s: tf.sparse_fill_empty_rows(s, 1.0)[0], ()),
    }
    for name, (function, rest) in functions.items():
        found[name + "_fits"] = case(loosely(function), *(sparse() + rest), known=False)
        for kind, (places, values, shape) in BAD.items():
            if kind == "count" and name in (
                "dense_add", "dense_add_sizes", "dense_add_rank", "mul", "mul_rank", "mul_sizes", "maximum", "fill"
            ):  # fmt: skip
                continue  # TensorFlow does not look
            found["{}_bad_{}".format(name, kind)] = case(
                loosely(function), *(sparse(places, values, shape) + rest), known=False
            )
    for name, places in (("row", [[5, 0]]), ("column", [[0, 7]]), ("negative", [[0, -1]])):
        found["matmul_" + name] = case(
            loosely(tf.sparse_tensor_dense_matmul),
            *(sparse(places, [1]) + (("float32", np.transpose(DENSE)),)), known=False
        )  # fmt: skip

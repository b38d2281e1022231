"""Products of matrices, for all types."""

import numpy as np

from programs.values import FLOATS, INTEGERS, case


def matrix(*shape):
    return np.arange(int(np.prod(shape))).reshape(shape) % 5 - 2


def cases(tf):
    found = {}
    for dtype in FLOATS + INTEGERS + ("bool",):
        a, b = matrix(3, 4), matrix(4, 5)
        if dtype.startswith("u"):
            a, b = abs(a), abs(b)
        found["matmul_" + dtype] = case(tf.matmul, (dtype, a), (dtype, b))
        found["batch_" + dtype] = case(tf.matmul, (dtype, np.stack([a, a])), (dtype, np.stack([b, b])))
        found["matvec_" + dtype] = case(tf.linalg.matvec, (dtype, a), (dtype, b[:, 0]))
        found["sparse_" + dtype] = case(
            lambda x, y: tf.matmul(x, y, a_is_sparse=True), (dtype, a), (dtype, b)
        )
        for name, inputs in (
            ("inner", (matrix(2, 0), matrix(0, 3))), ("rows", (matrix(0, 2), matrix(2, 3))),
            ("columns", (matrix(2, 3), matrix(3, 0))), ("batch_inner", (matrix(2, 2, 0), matrix(2, 0, 3))),
            ("batches", (matrix(0, 2, 2), matrix(0, 2, 3))),
        ):
            found["empty_{}_{}".format(name, dtype)] = case(tf.matmul, *[(dtype, abs(each)) for each in inputs])
    found["mixed"] = case(tf.matmul, ("bfloat16", matrix(3, 4)), ("float32", matrix(4, 5)))
    for first in ((2, 1, 3, 4), (5, 3, 4), (3, 4)):
        found["broadcast_{}".format(len(first))] = case(
            tf.matmul, ("float32", matrix(*first)), ("float32", matrix(2, 5, 4, 2))
        )
    for known in (True, False):
        for name, shapes in (
            ("inner", ((2, 3), (4, 5))), ("vector", ((3,), (3, 2))), ("scalar", ((), (3, 2))),
            ("batches", ((2, 2, 3), (3, 3, 2))), ("batch_inner", ((2, 2, 3), (2, 4, 5))), ("ranks", ((2, 3), (3,))),
        ):
            inputs = [("float32", np.zeros(shape)) for shape in shapes]
            found["bad_{}_{}".format(name, known)] = case(tf.matmul, *inputs, known=known)
            found["bad_sparse_{}_{}".format(name, known)] = case(
                lambda x, y: tf.matmul(x, y, b_is_sparse=True), *inputs, known=known
            )
    found["bad_both"] = case(
        lambda x: tf.matmul(x, x, transpose_a=True, adjoint_a=True), ("float32", matrix(2, 2))
    )
    return found

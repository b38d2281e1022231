"""Products of matrices."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts


def _turned(call, index):
    rank = len(call.dims(index))
    return call.add("Transpose", call.inputs[index], perm=[*range(rank - 2), rank - 1, rank - 2])


@converts("MatMul")
def matmul(call: Call):
    sides = [
        _turned(call, i) if call.attr(name) else call.inputs[i]
        for i, name in enumerate(("transpose_a", "transpose_b"))
    ]
    return call.add("MatMul", *sides)


@converts("BatchMatMul", "BatchMatMulV2")
def batch_matmul(call):
    sides = [_turned(call, i) if call.attr(name) else call.inputs[i] for i, name in enumerate(("adj_x", "adj_y"))]
    return call.add("MatMul", *sides)


@converts("Einsum")
def einsum(call):
    return call.add("Einsum", *call.inputs, equation=call.attr("equation"))


@converts("Cross")
def cross(call):
    """Of the vectors of the last axis: products with the next elements, less those the other way round."""
    rolled = [
        [call.add("Gather", value, call.constant(order, np.int64), axis=-1) for order in ([1, 2, 0], [2, 0, 1])]
        for value in call.inputs
    ]
    (a_next, a_last), (b_next, b_last) = rolled
    return call.add("Sub", call.add("Mul", a_next, b_last), call.add("Mul", a_last, b_next))

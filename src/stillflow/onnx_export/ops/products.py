"""Products of matrices."""

from __future__ import annotations

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

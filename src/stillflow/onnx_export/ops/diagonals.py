"""Diagonals of matrices, and determinants."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts


def _is_diagonal(call, matrix):
    """Which elements lie on the diagonal, [rows, columns]."""
    sizes = call.add("Shape", matrix)
    sides = []
    for axis in (-2, -1):
        size = call.add("Gather", sizes, call.constant(axis, np.int64))
        sides.append(call.below(size))
    column = call.add("Unsqueeze", sides[0], call.ints(1))
    return call.add("Equal", column, call.add("Unsqueeze", sides[1], call.ints(0)))


def _matrix_of(call, diagonal):
    column = call.add("Unsqueeze", diagonal, call.ints(-1))
    row = call.add("Unsqueeze", diagonal, call.ints(-2))
    square = call.add("Expand", column, call.add("Shape", call.add("Add", column, row)))
    return call.add("Where", _is_diagonal(call, square), square, call.like(0))


def _diagonal_of(call, matrix):
    kept = call.add("Where", _is_diagonal(call, matrix), matrix, call.like(0))
    found = call.add("ReduceSum", kept, call.ints(-1), keepdims=0)
    width = call.add("Gather", call.add("Shape", matrix), call.ints(-1))
    return call.add("Slice", found, call.ints(0), width, call.ints(-1))


@converts("MatrixDiag", "BatchMatrixDiag")
def matrix_diag(call: Call):
    return _matrix_of(call, call.inputs[0])


@converts("MatrixDiagPart", "BatchMatrixDiagPart")
def matrix_diag_part(call):
    return _diagonal_of(call, call.inputs[0])


@converts("MatrixSetDiag", "BatchMatrixSetDiag")
def matrix_set_diag(call):
    height, width = call.dims()[-2:]
    if height is None or width is None:
        raise call.error("needs matrices whose sizes are known")
    axis = call.ints(-2 if height > width else -1)
    diagonal = call.add("Unsqueeze", call.inputs[1], axis)
    return call.add("Where", _is_diagonal(call, call.inputs[0]), diagonal, call.inputs[0])


@converts("Diag")
def diag(call):
    sizes = call.add("Shape", call.inputs[0])
    square = _matrix_of(call, call.add("Reshape", call.inputs[0], call.ints(-1)))
    return call.add("Reshape", square, call.add("Concat", sizes, sizes, axis=0))


@converts("DiagPart")
def diag_part(call):
    half = len(call.dims()) // 2
    sizes = call.add("Slice", call.add("Shape", call.inputs[0]), *(call.ints(n) for n in (0, half)))
    count = call.add("ReduceProd", sizes, keepdims=1)
    square = call.add("Reshape", call.inputs[0], call.add("Concat", count, count, axis=0))
    return call.add("Reshape", _diagonal_of(call, square), sizes)


@converts("MatrixDeterminant", "BatchMatrixDeterminant")
def determinant(call):
    return call.add("Det", call.inputs[0])

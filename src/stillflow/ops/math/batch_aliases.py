"""BatchCholesky, BatchFFT, BatchMatrixInverse, ...: what ops for batches were called before they took any rank.

Graphs of 2016 hold them; each runs the kernel of the op that took its place.
"""

from __future__ import annotations

from stillflow.graph import op_def as op_defs
from stillflow.ops.array import diagonal as _diagonal  # noqa: F401  declares the ops whose shapes these have
from stillflow.ops.math import factors as _factors  # noqa: F401
from stillflow.ops.math import fourier as _fourier  # noqa: F401
from stillflow.ops.math import qr as _qr  # noqa: F401
from stillflow.ops.registry import define_op

_FLOATS = "T: {float64, float32}"
_FLOATS_AND_COMPLEX = "T: {float64, float32, complex64, complex128}"


def _alias(signature, attrs, kernel, **options):
    op = define_op(signature, attrs, kernel=kernel, differentiable=None, **options)
    successor = op_defs.find(op.op_def.name.removeprefix("Batch"))
    assert successor is not None
    op.shape_rule(successor.shape_rule)
    return op


batch_cholesky = _alias("BatchCholesky(input: T) -> (output: T)", _FLOATS, "cholesky(input)")
batch_matrix_inverse = _alias(
    "BatchMatrixInverse(input: T) -> (output: T)",
    f"adjoint: bool = false; {_FLOATS}",
    "matrix_inverse(input | adjoint)",
)
batch_matrix_solve = _alias(
    "BatchMatrixSolve(matrix: T, rhs: T) -> (output: T)",
    f"adjoint: bool = false; {_FLOATS}",
    "matrix_solve(matrix, rhs | adjoint)",
)
batch_matrix_triangular_solve = _alias(
    "BatchMatrixTriangularSolve(matrix: T, rhs: T) -> (output: T)",
    f"lower: bool = true; adjoint: bool = false; {_FLOATS}",
    "matrix_triangular_solve(matrix, rhs | lower, adjoint)",
)
batch_matrix_solve_ls = _alias(
    "BatchMatrixSolveLs(matrix: T, rhs: T, l2_regularizer: float64) -> (output: T)",
    f"{_FLOATS}; fast: bool = true",
    "matrix_solve_ls(matrix, rhs, l2_regularizer | fast)",
)
batch_matrix_determinant = _alias(
    "BatchMatrixDeterminant(input: T) -> (output: T)",
    "T: {float32, float64, complex64, complex128}",
    "matrix_determinant(input)",
)
batch_self_adjoint_eig_v2 = _alias(
    "BatchSelfAdjointEigV2(input: T) -> (e: T, v: T)",
    f"compute_v: bool = true; {_FLOATS}",
    "self_adjoint_eig(input | compute_v)",
)
batch_svd = _alias(
    "BatchSvd(input: T) -> (s: T, u: T, v: T)",
    f"compute_uv: bool = true; full_matrices: bool = false; {_FLOATS_AND_COMPLEX}",
    "svd(input | compute_uv, full_matrices)",
)
batch_matrix_diag = _alias("BatchMatrixDiag(diagonal: T) -> (output: T)", "T: type", "matrix_diag(diagonal)")
batch_matrix_diag_part = _alias(
    "BatchMatrixDiagPart(input: T) -> (diagonal: T)", "T: type", "matrix_diag_part(input)"
)
batch_matrix_set_diag = _alias(
    "BatchMatrixSetDiag(input: T, diagonal: T) -> (output: T)", "T: type", "matrix_set_diag(input, diagonal)"
)
batch_matrix_band_part = _alias(
    "BatchMatrixBandPart(input: T, num_lower: int64, num_upper: int64) -> (band: T)",
    "T: type",
    "matrix_band_part(input, num_lower, num_upper)",
)
batch_fft = _alias("BatchFFT(input: complex64) -> (output: complex64)", "", "fft(input | 1, 0)", state="op")
batch_ifft = _alias("BatchIFFT(input: complex64) -> (output: complex64)", "", "fft(input | 1, 1)", state="op")
batch_fft2d = _alias("BatchFFT2D(input: complex64) -> (output: complex64)", "", "fft(input | 2, 0)", state="op")
batch_ifft2d = _alias("BatchIFFT2D(input: complex64) -> (output: complex64)", "", "fft(input | 2, 1)", state="op")
batch_fft3d = _alias("BatchFFT3D(input: complex64) -> (output: complex64)", "", "fft(input | 3, 0)", state="op")
batch_ifft3d = _alias("BatchIFFT3D(input: complex64) -> (output: complex64)", "", "fft(input | 3, 1)", state="op")

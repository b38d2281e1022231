"""MatrixDiagV2 and its kin, which take several diagonals of matrices at once."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

matrix_diags = define_op(
    "MatrixDiagV2(diagonal: T, k: int32, num_rows: int32, num_cols: int32, padding_value: T) -> (output: T)",
    "T: type",
    kernel="matrix_diags(diagonal, k, num_rows, num_cols, padding_value)",
)
matrix_diag_parts = define_op(
    "MatrixDiagPartV2(input: T, k: int32, padding_value: T) -> (diagonal: T)",
    "T: type",
    kernel="matrix_diag_parts(input, k, padding_value)",
)
matrix_set_diags = define_op(
    "MatrixSetDiagV2(input: T, diagonal: T, k: int32) -> (output: T)",
    "T: type",
    kernel="matrix_set_diags(input, diagonal, k)",
)


def _band(context, index, asks=True):
    """(lowest diagonal, uppermost one) as the input says, or None if that is not known yet or not asked for."""
    plain.with_rank_at_most(context.shapes[index], 1)
    value = context.value(index) if asks else None
    if value is None:
        return None
    if value.size not in (1, 2):
        raise ShapeError(f"diag_index must have only one or two elements, received {value.size} elements.")
    lower, upper = (int(number) for number in (value.flat[0], value.flat[-1]))
    if lower > upper:
        raise ShapeError("lower_diag_index is greater than upper_diag_index")
    return lower, upper


def _check_within(band, rows, columns):
    if None in (rows, columns):
        return
    for name, diagonal in zip(("lower_diag_index", "upper_diag_index"), band, strict=True):
        if diagonal != 0 and not -rows < diagonal < columns:
            raise ShapeError(f"{name} is out of bound.")


def _size(context, index):
    """A number of rows or columns: None if it is not known yet, -1 if none is wanted."""
    plain.with_rank(context.shapes[index], 0)
    value = context.value(index)
    return None if value is None else int(value)


def _sizes(lower, upper, longest, rows, columns):
    """The rows and columns of matrices that have these diagonals."""
    if longest is None:
        return tuple(None if size == -1 else size for size in (rows, columns))
    least = (longest - min(upper, 0), longest + max(lower, 0))
    if rows == columns == -1:
        return (max(least),) * 2
    for name, size, smallest in (("num_rows", rows, least[0]), ("num_cols", columns, least[1])):
        if size is not None and -1 < size < smallest:
            raise ShapeError(f"{name} is too small")
    if None in (rows, columns):
        return rows if rows != -1 else None, columns if columns != -1 else None
    rows, columns = (smallest if size == -1 else size for size, smallest in zip((rows, columns), least, strict=True))
    if rows != least[0] and columns != least[1]:
        raise ShapeError(
            "num_rows and num_cols are not consistent with lower_diag_index, upper_diag_index, and the length of the "
            f"given diagonals.\nnum_rows = {rows} != min_num_rows = {least[0]}, num_cols = {columns} != min_num_cols "
            f"= {least[1]}"
        )
    return rows, columns


@matrix_diags.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    band = _band(context, 1, asks=dims is not None)
    rows, columns = _size(context, 2), _size(context, 3)
    plain.with_rank(context.shapes[4], 0)
    if band is None:
        return None
    lower, upper = band
    count = upper - lower + 1
    if count > 1:
        dims = plain.with_rank_at_least(dims, 2)
        if dims[-2] not in (None, count):
            raise ShapeError(
                "The number of rows of `diagonal` doesn't match the number of diagonals implied from `d_lower` and "
                f"`d_upper`.\nnum_diags = {dims[-2]}, d_lower = {lower}, d_upper = {upper}"
            )
    return (*dims[: -1 if count == 1 else -2], *_sizes(lower, upper, dims[-1], rows, columns))


def _diagonals_dims(dims, band):
    """The shape of these diagonals of matrices."""
    lower, upper = band
    rows, columns = dims[-2:]
    _check_within(band, rows, columns)
    longest = None if None in (rows, columns) else min(rows + min(upper, 0), columns - max(lower, 0))
    return (*dims[:-2], *((upper - lower + 1,) if lower < upper else ()), longest)


@matrix_diag_parts.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 2)
    band = _band(context, 1, asks=dims is not None)
    plain.with_rank(context.shapes[2], 0)
    return None if band is None else _diagonals_dims(dims, band)


@matrix_set_diags.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 2)
    diagonals = plain.with_rank_at_least(context.shapes[1], 1)
    band = _band(context, 2)
    if band is None:
        if dims is not None:
            plain.with_rank_at_most(plain.with_rank_at_least(diagonals, len(dims) - 1), len(dims))
        return dims
    if dims is not None:
        diagonals = plain.with_rank(diagonals, len(_diagonals_dims(dims, band)))
    if diagonals is None or (dims is not None and None not in dims):
        return dims
    batch = diagonals[: -1 if band[0] == band[1] else -2]
    return (*batch, None, None) if dims is None else (*plain.merged(dims[:-2], batch), *dims[-2:])


# ---- Gradients ----------------------------------------------------------------------------------------------


@matrix_diags.gradient
def _(op, grad):
    padding = ops.zeros((), grad.dtype)
    return matrix_diag_parts(grad, op._inputs[1], padding, name="diag_part"), None, None, None, None


@matrix_diag_parts.gradient
def _(op, grad):
    matrices, k, _ = op._inputs
    dims = matrices._dims
    if dims is not None and None not in dims[-2:]:
        padding = ops.zeros((), grad.dtype)
        return matrix_diags(grad, k, *dims[-2:], padding, name="diag"), None, None
    return matrix_set_diags(ops.zeros_like(matrices), grad, k, name="set_diag"), None, None


@matrix_set_diags.gradient
def _(op, grad):
    _, diagonals, k = op._inputs
    matrices_grad = matrix_set_diags(grad, ops.zeros_like(diagonals), k, name="set_diag")
    diagonals_grad = matrix_diag_parts(grad, k, ops.zeros((), grad.dtype), name="diag_part")
    return matrices_grad, diagonals_grad, None

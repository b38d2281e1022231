"""Diag, MatrixDiag and their kin: arrays and matrices made from diagonals, and the other way round."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import ShapeError, dims_text
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.array.matrix_diagonals import matrix_diag_parts, matrix_diags, matrix_set_diags
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op
from stillflow.platform.compat import forward_compatible

_DIAG_TYPES = "T: {bfloat16, float16, float32, float64, int32, int64, complex64, complex128}"

diag = define_op(
    "Diag(diagonal: T) -> (output: T)",
    _DIAG_TYPES,
    kernel="diag(diagonal)",
    public="diag linalg.tensor_diag",
    doc="Zeros of the shape of `diagonal` twice over, with it on the diagonal.",
)
diag_part = define_op(
    "DiagPart(input: T) -> (diagonal: T)",
    _DIAG_TYPES,
    kernel="diag_part(input)",
    public="diag_part linalg.tensor_diag_part",
    doc="The diagonal of a tensor whose shape is one shape twice over.",
)
matrix_diag_op = define_op("MatrixDiag(diagonal: T) -> (output: T)", "T: type", kernel="matrix_diag(diagonal)")
matrix_diag_part_op = define_op(
    "MatrixDiagPart(input: T) -> (diagonal: T)", "T: type", kernel="matrix_diag_part(input)"
)
matrix_set_diag_op = define_op(
    "MatrixSetDiag(input: T, diagonal: T) -> (output: T)", "T: type", kernel="matrix_set_diag(input, diagonal)"
)
matrix_band_part = define_op(
    "MatrixBandPart(input: T, num_lower: Tindex, num_upper: Tindex) -> (band: T)",
    "T: type; Tindex: {int32, int64} = int64",
    kernel="matrix_band_part(input, num_lower, num_upper)",
    public="matrix_band_part linalg.band_part",
    doc="""Matrices with zeros but for so many diagonals below and above the main one; negative keeps all.""",
)


@diag.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    return plain.joined(dims, dims)


@diag_part.shape_rule
def _(context):
    dims = context.shapes[0]
    if dims is None:
        return None
    if not dims or len(dims) % 2:
        raise ShapeError(f"Input must have even and non-zero rank, input rank is {len(dims)}")
    half = len(dims) // 2
    return plain.merged(dims[:half], dims[half:])


@matrix_diag_op.shape_rule
def _(context):
    dims = plain.with_rank_at_least(context.shapes[0], 1)
    return None if dims is None else (*dims, dims[-1])


def _diagonal_dims(dims):
    """The shape of the diagonals of matrices."""
    dims = plain.with_rank_at_least(dims, 2)
    if dims is None:
        return None
    rows, columns = dims[-2:]
    length = 0 if 0 in (rows, columns) else None if None in (rows, columns) else min(rows, columns)
    return (*dims[:-2], length)


@matrix_diag_part_op.shape_rule
def _(context):
    return _diagonal_dims(context.shapes[0])


@matrix_set_diag_op.shape_rule
def _(context):
    dims, diagonal = context.shapes
    plain.with_rank_at_least(diagonal, 1)
    if dims is None and diagonal is not None:
        dims = (None,) * (len(diagonal) + 1)
    expected = _diagonal_dims(dims)
    if expected is None or diagonal is None:
        return dims
    if len(diagonal) != len(expected):
        raise ShapeError(f"Diagonals of shape {dims_text(diagonal)} do not fit matrices of shape {dims_text(dims)}")
    merged = plain.merged(expected, diagonal)
    return (*merged[:-1], *dims[-2:])


@matrix_band_part.shape_rule
def _(context):
    return plain.with_rank_at_least(context.shapes[0], 2)


# ---- Functions ----------------------------------------------------------------------------------------------


@public("trace", "linalg.trace")
@dispatched
def trace(x, name=None):
    """The sum of the main diagonal of each matrix in the last two dimensions."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return ops.reduce_sum(matrix_diag_part_op(x, name="diag_part"), [-1], name=scope)


@public("eye", "linalg.eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """An identity matrix of `num_rows` rows, as many columns unless `num_columns` is given, in batches if wanted."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        is_square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if is_square else num_columns
        if isinstance(num_rows, Tensor) or isinstance(num_columns, Tensor):
            length = ops.minimum(num_rows, num_columns)
        else:
            is_square = num_rows == num_columns
            length = min(num_rows, num_columns)
        if isinstance(batch_shape, Tensor) or isinstance(length, Tensor):
            batch_shape = convert_to_tensor(batch_shape, dtypes.int32, name="shape")
            ones_shape = ops.concat((batch_shape, [length]), axis=0)
            shape = None if is_square else ops.concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            ones_shape = [*batch_shape, length]
            shape = [*batch_shape, num_rows, num_columns]
        ones = ops.ones(ones_shape, dtype)
        if is_square:
            return matrix_diag_op(ones, name="diag")
        return matrix_set_diag_op(ops.zeros(shape, dtype), ones, name="set_diag")


@public("matrix_diag", "linalg.diag")
def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0):
    """A matrix for each vector in the last dimension, with it on the diagonal.

    The arguments after `name` are there for later versions: MatrixDiagV2, which takes them, is made within
    tf.compat.forward_compatibility_horizon(2019, 9, 1) alone. Otherwise TensorFlow 1.15 ignores them.
    """
    if not forward_compatible(2019, 8, 31):
        return matrix_diag_op(diagonal, name=name)
    padding_value = _padding_for(diagonal, padding_value)
    return matrix_diags(diagonal, k, num_rows, num_cols, padding_value, name=name)


@public("matrix_diag_part", "linalg.diag_part")
@dispatched
def matrix_diag_part(input, name="diag_part", k=0, padding_value=0):
    """The diagonals of the matrices in the last two dimensions. See `matrix_diag` about `k` and `padding_value`."""
    if not forward_compatible(2019, 8, 31):
        return matrix_diag_part_op(input, name=name)
    return matrix_diag_parts(input, k, _padding_for(input, padding_value), name=name)


@public("matrix_set_diag", "linalg.set_diag")
def matrix_set_diag(input, diagonal, name="set_diag", k=0):
    """The matrices in the last two dimensions of `input` with new diagonals. See `matrix_diag` about `k`."""
    if not forward_compatible(2019, 8, 31):
        return matrix_set_diag_op(input, diagonal, name=name)
    return matrix_set_diags(input, diagonal, k, name=name)


def _padding_for(values, padding_value):
    return bool(padding_value) if getattr(values, "dtype", None) == "bool" else padding_value


# ---- Gradients ----------------------------------------------------------------------------------------------


@diag.gradient
def _(op, grad):
    return diag_part(grad)


@diag_part.gradient
def _(op, grad):
    return diag(grad)


@matrix_diag_op.gradient
def _(op, grad):
    return matrix_diag_part_op(grad, name="diag_part")


@matrix_diag_part_op.gradient
def _(op, grad):
    dims = op._inputs[0]._dims
    if dims is not None and dims[-2] is not None and dims[-2] == dims[-1]:
        return matrix_diag_op(grad, name="diag")
    return matrix_set_diag_op(ops.zeros_like(op._inputs[0]), grad, name="set_diag")


@matrix_set_diag_op.gradient
def _(op, grad):
    dims, diagonal = op._inputs[0]._dims, op._inputs[1]._dims
    known = plain.merged(None if dims is None else dims[:-2], None if diagonal is None else diagonal[:-1])
    grad_dims = grad._dims
    matrix = (None, None) if grad_dims is None else grad_dims[-2:]
    if known is not None and None not in known and None not in matrix:
        shape = [*known, min(matrix)]
    else:
        with get_default_graph().colocate_with(grad):
            grad_shape = ops.shape(grad)
            grad_rank = ops.rank(grad)
            batch_shape = ops.slice(grad_shape, [0], [grad_rank - 2])
            matrix_shape = ops.slice(grad_shape, [grad_rank - 2], [2])
            length = ops.reduce_min(matrix_shape)
            shape = ops.concat([batch_shape, [length]], 0)
    input_grad = matrix_set_diag_op(grad, ops.zeros(shape, grad.dtype), name="set_diag")
    return input_grad, matrix_diag_part_op(grad, name="diag_part")


@matrix_band_part.gradient
def _(op, grad):
    _, lower, upper = op._inputs
    return matrix_band_part(grad, lower, upper), None, None

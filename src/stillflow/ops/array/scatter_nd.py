"""ScatterNd and its kin: arrays put together from parts at given places."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.shape_inference import ShapeError, dims_text
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

_NUMBERS_AND_BOOL = (
    "{float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64, bool}"
)

scatter_nd = define_op(
    "ScatterNd(indices: Tindices, updates: T, shape: Tindices) -> (output: T)",
    "T: type; Tindices: {int32, int64}",
    kernel="scatter_nd(indices, updates, shape)",
    public="scatter_nd manip.scatter_nd",
    doc="""`updates` added up at the index tuples in the last dimension of `indices`, in zeros of that shape.""",
)
scatter_nd_non_aliasing_add = define_op(
    "ScatterNdNonAliasingAdd(input: T, indices: Tindices, updates: T) -> (output: T)",
    f"T: {_NUMBERS_AND_BOOL}; Tindices: {{int32, int64}}",
    kernel="tensor_scatter(input, indices, updates | 'add')",
)


def _tensor_scatter(name, operation, **options):
    return define_op(
        f"{name}(tensor: T, indices: Tindices, updates: T) -> (output: T)",
        "T: type; Tindices: {int32, int64}",
        kernel=f"tensor_scatter(tensor, indices, updates | '{operation}')",
        **options,
    )


tensor_scatter_update = _tensor_scatter(
    "TensorScatterUpdate",
    "set",
    public="tensor_scatter_nd_update tensor_scatter_update",
    doc="`tensor` with `updates` at the index tuples in the last dimension of `indices`.",
)
tensor_scatter_add = _tensor_scatter(
    "TensorScatterAdd",
    "add",
    public="tensor_scatter_add tensor_scatter_nd_add",
    doc="`tensor` with `updates` added at the index tuples in the last dimension of `indices`.",
)
tensor_scatter_sub = _tensor_scatter(
    "TensorScatterSub",
    "sub",
    public="tensor_scatter_nd_sub tensor_scatter_sub",
    doc="`tensor` with `updates` subtracted at the index tuples in the last dimension of `indices`.",
)


def check_parts(whole, indices, updates, whole_name="output"):
    """Raises ShapeError unless there is an update of the right shape for each index tuple."""
    indices = plain.with_rank_at_least(indices, 1)
    updates = plain.with_rank_at_least(updates, 1)
    if whole is not None and 0 in whole and (plain.product(indices) or plain.product(updates)):
        raise ShapeError("Indices and updates specified for empty output shape")
    if indices is None or updates is None or indices[-1] is None:
        return
    outer, depth = len(indices) - 1, indices[-1]
    _check_same(
        indices[:outer], updates[:outer],
        f"The outer {outer} dimensions of indices.shape={dims_text(indices)} must match the outer {outer} "
        f"dimensions of updates.shape={dims_text(updates)}",
    )  # fmt: skip
    if whole is None:
        return
    _check_same(
        whole[depth:], updates[outer:],
        f"The inner {len(whole) - depth} dimensions of {whole_name}.shape={dims_text(whole)} must match the inner "
        f"{len(updates) - outer} dimensions of updates.shape={dims_text(updates)}",
    )  # fmt: skip


def _check_same(a, b, message):
    try:
        plain.merged(a, b)
    except ShapeError as error:
        raise ShapeError(f"{message}: {error}") from None


@scatter_nd.shape_rule
def _(context):
    shape = plain.spelled(context, 2)
    check_parts(shape, context.shapes[0], context.shapes[1])
    return shape


@scatter_nd_non_aliasing_add.shape_rule
@tensor_scatter_update.shape_rule
@tensor_scatter_add.shape_rule
@tensor_scatter_sub.shape_rule
def _(context):
    check_parts(*context.shapes)
    return context.shapes[0]


# ---- Gradients ----------------------------------------------------------------------------------------------


@scatter_nd.gradient
def _(op, grad):
    return None, ops.gather_nd(grad, op._inputs[0]), None


@scatter_nd_non_aliasing_add.gradient
def _(op, grad):
    return grad, None, ops.gather_nd(grad, op._inputs[1])


@tensor_scatter_update.gradient
def _(op, grad):
    _, indices, updates = op._inputs
    updates_grad = ops.gather_nd(grad, indices)
    rest = ops.identity(grad)
    zeros = ops.zeros_like(updates, dtype=grad.dtype)
    return tensor_scatter_update(rest, indices, zeros), None, updates_grad


@tensor_scatter_add.gradient
def _(op, grad):
    updates_grad = ops.gather_nd(grad, op._inputs[1])
    return ops.identity(grad), None, updates_grad


@tensor_scatter_sub.gradient
def _(op, grad):
    updates_grad = ops.gather_nd(grad, op._inputs[1])
    return ops.identity(grad), None, -updates_grad

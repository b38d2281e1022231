"""Resource variables: the handle of a variable, and the ops that read it and change it through that.

A plan gives what reads a handle the variable's value, and what changes it the variable itself.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError, handle_source
from stillflow.ops import dims as plain
from stillflow.ops.array.placeholder import incompatible
from stillflow.ops.array.scatter_nd import check_parts
from stillflow.ops.registry import define_op
from stillflow.ops.state.variable import NUMBERS

var_handle_op = define_op(
    "VarHandleOp() -> (resource: resource)",
    "container: string = ''; shared_name: string = ''; dtype: type; shape: shape",
    special="handle",
    stateful=True,
    differentiable=False,
    traits="is_variable",
)
var_is_initialized_op = define_op(
    "VarIsInitializedOp(resource: resource) -> (is_initialized: bool)",
    kernel="is_initialized(resource)",
    stateful=True,
    differentiable=False,
    traits="asks_for_state",
)
destroy_resource_op = define_op(
    "DestroyResourceOp(resource: resource) -> ()",
    "ignore_lookup_error: bool = true",
    kernel="destroy_resource(resource | ignore_lookup_error)",
    stateful=True,
    differentiable=None,
    traits="takes_any_handle",
)
destroy_resource_op.shape_rule(lambda context: [])
variable_shape_op = define_op(
    "VariableShape(input: resource) -> (output: out_type)",
    "out_type: {int32, int64} = int32",
    kernel="shape(input | out_type)",
    stateful=True,
    differentiable=False,
    # Gradients add it where it may not run, so that nothing may wait for it.
    traits="reads_variable is_unordered",
)
read_variable_op = define_op(
    "ReadVariableOp(resource: resource) -> (value: dtype)",
    "dtype: type",
    alias=0,
    stateful=True,
    traits="reads_variable asks_for_state",
)
assign_variable_op = define_op(
    "AssignVariableOp(resource: resource, value: dtype) -> ()",
    "dtype: type",
    kernel="assign(resource, value | false)",
    stateful=True,
    differentiable=False,
    traits="assigns_variable",
)
assign_add_variable_op = define_op(
    "AssignAddVariableOp(resource: resource, value: dtype) -> ()",
    "dtype: type",
    kernel="assign_add(resource, value)",
    stateful=True,
    differentiable=False,
)
assign_sub_variable_op = define_op(
    "AssignSubVariableOp(resource: resource, value: dtype) -> ()",
    "dtype: type",
    kernel="assign_sub(resource, value)",
    stateful=True,
    differentiable=False,
)
resource_count_up_to = define_op(
    "ResourceCountUpTo(resource: resource) -> (output: T)",
    "limit: int; T: {int32, int64}",
    kernel="count_up_to(resource | limit)",
    stateful=True,
    differentiable=False,
)
resource_gather = define_op(
    "ResourceGather(resource: resource, indices: Tindices) -> (output: dtype)",
    "batch_dims: int = 0; validate_indices: bool = true; dtype: type; Tindices: {int32, int64}",
    kernel="gather(resource, indices | batch_dims)",
    stateful=True,
    traits="reads_variable",
)
resource_gather_nd = define_op(
    "ResourceGatherNd(resource: resource, indices: Tindices) -> (output: dtype)",
    "dtype: type; Tindices: {int32, int64}",
    kernel="gather_nd(resource, indices)",
    stateful=True,
    traits="reads_variable",
)


def _scatter(name, operation, types=NUMBERS):
    op = define_op(
        f"{name}(resource: resource, indices: Tindices, updates: dtype) -> ()",
        f"dtype: {types}; Tindices: {{int32, int64}}",
        kernel=f"scatter(resource, indices, updates | '{operation}')",
        stateful=True,
        differentiable=False,
    )

    @op.shape_rule
    def _(context):
        dims, (_, indices, updates) = context.variable_dims(0), context.shapes
        if updates != ():
            plain.merged(updates, plain.joined(indices, None if dims is None else dims[1:]))
        return []

    return op


resource_scatter_update = _scatter("ResourceScatterUpdate", "set", "type")
resource_scatter_add = _scatter("ResourceScatterAdd", "add")
resource_scatter_sub = _scatter("ResourceScatterSub", "sub")
resource_scatter_mul = _scatter("ResourceScatterMul", "mul")
resource_scatter_div = _scatter("ResourceScatterDiv", "div")
resource_scatter_min = _scatter("ResourceScatterMin", "min")
resource_scatter_max = _scatter("ResourceScatterMax", "max")


def _scatter_nd(name, operation):
    op = define_op(
        f"{name}(ref: resource, indices: Tindices, updates: T) -> ()",
        "T: type; Tindices: {int32, int64}; use_locking: bool = true",
        kernel=f"scatter_nd_ref(ref, indices, updates | '{operation}')",
        stateful=True,
        differentiable=False,
    )

    @op.shape_rule
    def _(context):
        _, indices, updates = context.shapes
        check_parts(context.variable_dims(0), indices, updates, "input")
        return []

    return op


resource_scatter_nd_update = _scatter_nd("ResourceScatterNdUpdate", "set")
resource_scatter_nd_add = _scatter_nd("ResourceScatterNdAdd", "add")
resource_scatter_nd_sub = _scatter_nd("ResourceScatterNdSub", "sub")


@var_handle_op.shape_rule
@var_is_initialized_op.shape_rule
def _(context):
    return ()


@variable_shape_op.shape_rule
def _(context):
    dims = context.variable_dims(0)
    return (None if dims is None else len(dims),)


@read_variable_op.shape_rule
def _(context):
    return context.variable_dims(0)


@assign_variable_op.shape_rule
@assign_add_variable_op.shape_rule
@assign_sub_variable_op.shape_rule
def _(context):
    dims, value = context.variable_dims(0), context.shapes[1]
    if merge(dims, value) is False:
        raise ShapeError(incompatible(dims, value))
    return []


@resource_count_up_to.shape_rule
def _(context):
    return plain.with_rank(context.variable_dims(0), 0)


@resource_gather.shape_rule
def _(context):
    params, indices = plain.with_rank_at_least(context.variable_dims(0), 1), context.shapes[1]
    batch_dims = context.attrs["batch_dims"]
    if not batch_dims:
        return plain.joined(indices, None if params is None else params[1:])
    if indices is None:
        return None
    plain.with_rank_at_least(indices, abs(batch_dims))
    batch_dims = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    plain.with_rank_at_least(params, batch_dims + 1)
    return None if params is None else (*indices, *params[batch_dims + 1 :])


@resource_gather_nd.shape_rule
def _(context):
    params, indices = context.variable_dims(0), plain.with_rank_at_least(context.shapes[1], 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ShapeError("indices.shape[-1] must be <= params.rank")
    return (*indices[:-1], *params[indices[-1] :])


# ---- Gradients ----------------------------------------------------------------------------------------------


@read_variable_op.gradient
def _(op, grad):
    return grad


@resource_gather.gradient
def _(op, grad):
    """The rows that were read, as IndexedSlices."""
    handle, indices = op._inputs
    shape = variable_shape(handle)
    count = ops.expand_dims(ops.size(indices), 0)
    values = ops.reshape(grad, ops.concat([count, shape[1:]], 0))
    return IndexedSlices(values, ops.reshape(indices, count), shape), None


@resource_gather_nd.gradient
def _(op, grad):
    handle, indices = op._inputs
    shape = ops.cast(variable_shape(handle), indices.dtype)
    if indices._dims is not None and len(indices._dims) == 2 and indices._dims[-1] == 1:
        return IndexedSlices(grad, ops.squeeze(indices, axis=-1), shape), None
    return ops.scatter_nd(indices, grad, shape), None


def variable_shape(handle):
    """The shape of the variable behind a handle, an int32 tensor: a constant if it is known."""
    source = handle._op if handle._op._captured is None else handle_source(handle)
    shape = source._attrs.get("shape") if source._op_def.special == "handle" else None
    if shape is not None and shape.is_fully_defined():
        return ops.constant(shape.as_list(), dtype="int32")
    return variable_shape_op(handle)

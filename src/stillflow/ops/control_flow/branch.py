"""Switch and Merge: conditional branches of the data flow."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.nest import components, pack_sequence_as
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import variable_dtype
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.control_flow.context import switch_ref_or_tensor
from stillflow.ops.control_flow.kinds import output_context
from stillflow.ops.convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from stillflow.ops.registry import define_op

switch_op = define_op(
    "Switch(data: T, pred: bool) -> (output_false: T, output_true: T)",
    "T: type",
    special="switch",
    traits="keeps_value",
)
ref_switch = define_op(
    "RefSwitch(data: Ref(T), pred: bool) -> (output_false: Ref(T), output_true: Ref(T))",
    "T: type",
    special="switch",
    allows_uninitialized_input=True,
    traits="keeps_value",
)
merge_op = define_op(
    "Merge(inputs: N * T) -> (output: T, value_index: int32)", "T: type; N: int >= 1", special="merge"
)
ref_merge = define_op(
    "RefMerge(inputs: Ref(N * T)) -> (output: Ref(T), value_index: int32)", "T: type; N: int >= 1", special="merge"
)
control_trigger = define_op("ControlTrigger() -> ()", special="control_trigger", differentiable=None)


@switch_op.shape_rule
@ref_switch.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    return [context.shapes[0]] * 2


@switch_op.folded_value
def _(context):
    """What comes out on the side that is always taken."""
    taken = context.value(1)
    return context.value(0) if taken is not None and bool(taken) == bool(context.output_index) else None


@merge_op.shape_rule
@ref_merge.shape_rule
def _(context):
    """What all inputs have in common."""
    found = context.shapes[0]
    for dims in context.shapes[1:]:
        if found is None or dims is None or len(dims) != len(found):
            return [None, ()]
        found = tuple(a if a == b else None for a, b in zip(found, dims, strict=True))
    return [found, ()]


# ---- Gradients ----------------------------------------------------------------------------------------------


@switch_op.gradient
@ref_switch.gradient
def _(op, *grads):
    """Where branches part, gradients come together."""
    context = op._get_control_flow_context()
    if context is not None and context.IsWhileContext():
        return _loop_switch_gradient(op, grads)
    if context is None:
        false_grad = switch(grads[0], op._inputs[1])[0]
        true_grad = switch(grads[1], op._inputs[1])[1]
        return merge([false_grad, true_grad])[0], None
    if grads[1 - context.branch] is not None:
        return merge(list(grads), name="cond_grad")[0], None
    if op._inputs[0].dtype is dtypes.resource:
        return merge([grads[context.branch]] * 2, name="cond_resource_grad")[0], None
    return None, None


def _loop_switch_gradient(op, grads):
    """The Switch of a loop's variable is gone through twice: at the loop's end, and at the end of each round."""
    merges = get_default_graph()._get_control_flow_context().grad_state.switch_map
    if op in merges:
        if grads[1] is not None:
            ops.close_round(merges[op], grads[1], checks_shape=False)
        return None, None
    if grads[0] is None:
        return None, None
    merges[op] = merge([grads[0], grads[0]], name="b_switch")[0]
    return merges[op], None


@merge_op.gradient
@ref_merge.gradient
def _(op, grad, _):
    """Where branches come together, gradients part."""
    context = output_context(op._inputs[0]._op)
    loop = get_default_graph()._get_control_flow_context()
    if context is not None and context.IsWhileContext():
        return switch_ref_or_tensor(grad, loop.pivot)
    if context is not None and context.IsCondContext():
        state = None if loop is None else loop.grad_state
        pred = context.pred if state is None else state.predicate_backward(context.pred)
        return switch_ref_or_tensor(grad, pred, name="cond_grad")
    chosen = [ops.equal(op._outputs[1], i) for i in range(len(op._inputs))]
    return [switch_ref_or_tensor(grad, is_chosen)[1] for is_chosen in chosen]


def zeros_like_output(op, index):
    """Zeros shaped as an output of a node; of a Switch, in the branch where nothing uses what it switches."""
    value = op._outputs[index]
    context = op._get_control_flow_context()
    is_resource = value.dtype is dtypes.resource
    if op._op_def.special != "switch" or context is None:
        if is_resource:
            return ops.zeros(ops.variable_shape_op(value), variable_dtype(value))
        return ops.zeros_like(value, optimize=False)
    unused = switch(op._inputs[0], context.pred)[1 - context.branch]
    pivot = ops.identity(unused)
    graph = get_default_graph()
    if is_resource:
        with graph.control_dependencies([pivot]):
            return ops.zeros(ops.variable_shape_op(unused), variable_dtype(value))
    shape = ops.shape_internal(unused, optimize=False)
    with graph.control_dependencies([pivot]):
        return ops.zeros(shape, value.dtype.base_dtype)


# ---- For tensors and IndexedSlices --------------------------------------------------------------------------


@public("python.ops.control_flow_ops.switch")
def switch(data, pred, dtype=None, name=None):
    """(what is there if not `pred`, what is there if `pred`) for a tensor or IndexedSlices."""
    with name_scope(name, "Switch", [data, pred]) as scope:
        if not isinstance(data, IndexedSlices):
            data = convert_to_tensor(data, dtype, name="data", as_ref=True)
        pred = convert_to_tensor(pred, name="pred")
        if isinstance(data, Tensor):
            return switch_op(data, pred, name=scope)
        parts = [switch_op(part, pred) for part in components(data)]
        return tuple(pack_sequence_as(data, side, True) for side in zip(*parts, strict=True))


@public("python.ops.control_flow_ops.merge")
def merge(inputs, name=None):
    """(the one of `inputs` that is there, its index).

    Tensors become IndexedSlices if some are. Raises ValueError if one is None.
    """
    if any(value is None for value in inputs):
        raise ValueError(f"At least one of the merge inputs is None: {inputs}")
    with name_scope(name, "Merge", inputs) as scope:
        inputs = [convert_to_tensor_or_indexed_slices(value, as_ref=True) for value in inputs]
        if all(isinstance(value, Tensor) for value in inputs):
            build = ref_merge if all(value.dtype._is_ref_dtype for value in inputs) else merge_op
            return build(inputs, name=scope)
        slices = as_indexed_slices_list(inputs, optimize=False)
        parts = [merge_op(list(part)) for part in zip(*map(components, slices), strict=True)]
        return pack_sequence_as(slices[0], [part.output for part in parts], True), parts[0].value_index


@public("python.ops.math_ops._as_indexed_slices")
def as_indexed_slices(value, optimize=True):
    """A tensor as IndexedSlices of all its rows; IndexedSlices as they are. Raises TypeError for anything else."""
    if isinstance(value, IndexedSlices):
        return value
    if not isinstance(value, Tensor):
        raise TypeError(f"Not a Tensor or IndexedSlices: {type(value)}")
    shape = ops.shape_internal(value, optimize=optimize)
    return IndexedSlices(value, ops.range(0, shape[0]), shape)


@public("python.ops.math_ops._as_indexed_slices_list")
def as_indexed_slices_list(values, optimize=True):
    """Tensors and IndexedSlices as IndexedSlices with indices of one type: int64 if some are."""
    slices = [as_indexed_slices(value, optimize) for value in values]
    if len({each.indices.dtype for each in slices}) == 1:
        return slices
    return [
        IndexedSlices(each.values, ops.cast(each.indices, dtypes.int64), each.dense_shape)
        if each.indices.dtype is dtypes.int32
        else each
        for each in slices
    ]

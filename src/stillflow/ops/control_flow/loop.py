"""Enter, NextIteration, Exit, LoopCond: the nodes of a loop's frame."""

from __future__ import annotations

from stillflow import errors
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.nest import components, pack_sequence_as
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor, convert_to_tensor_or_indexed_slices
from stillflow.ops.registry import define_op

_FRAME = "T: type; frame_name: string; is_constant: bool = false; parallel_iterations: int = 10"
enter_op = define_op("Enter(data: T) -> (output: T)", _FRAME, special="enter")
ref_enter = define_op("RefEnter(data: Ref(T)) -> (output: Ref(T))", _FRAME, special="enter")
exit_op = define_op("Exit(data: T) -> (output: T)", "T: type", special="exit")
ref_exit = define_op("RefExit(data: Ref(T)) -> (output: Ref(T))", "T: type", special="exit")
next_iteration_op = define_op("NextIteration(data: T) -> (output: T)", "T: type", special="next_iteration")
ref_next_iteration = define_op(
    "RefNextIteration(data: Ref(T)) -> (output: Ref(T))", "T: type", special="next_iteration"
)
loop_cond = define_op("LoopCond(input: bool) -> (output: bool)", special="loop_cond")


@enter_op.shape_rule
@ref_enter.shape_rule
def _(context):
    return context.shapes[0] if context.attrs["is_constant"] else None


@exit_op.shape_rule
@ref_exit.shape_rule
@next_iteration_op.shape_rule
@ref_next_iteration.shape_rule
def _(context):
    return context.shapes[0]


@loop_cond.shape_rule
def _(context):
    return plain.with_rank(context.shapes[0], 0)


# ---- For tensors and IndexedSlices ----------------------------------------------------------------------------


def enter(data, frame_name, is_constant=False, parallel_iterations=10, uses_shape=True, name=None):
    """What `data` becomes in a frame; its shape there is that outside, if it `uses_shape`."""
    data = _as_data(data)
    if isinstance(data, IndexedSlices):
        parts = [enter(part, frame_name, is_constant, parallel_iterations, uses_shape) for part in components(data)]
        return pack_sequence_as(data, parts, True)
    build = ref_enter if data.dtype._is_ref_dtype else enter_op
    result = build(data, frame_name, is_constant, parallel_iterations, name=name)
    if uses_shape:
        result.set_shape(data.shape)
    return result


def exit_loop(data, name=None):
    """What `data` becomes outside of its frame."""
    return _mapped(data, ref_exit, exit_op, name)


def next_iteration(data, name=None):
    """What `data` becomes in the next round."""
    return _mapped(data, ref_next_iteration, next_iteration_op, name)


def _mapped(data, ref_build, build, name):
    data = _as_data(data)
    if isinstance(data, IndexedSlices):
        return pack_sequence_as(data, [_mapped(part, ref_build, build, None) for part in components(data)], True)
    return (ref_build if data.dtype._is_ref_dtype else build)(data, name=name)


def _as_data(data):
    return convert_to_tensor_or_indexed_slices(data, as_ref=True)


def close_round(merge, value, checks_shape=True):
    """Makes `value` what the Merge of a variable takes in the next round. Raises ValueError for another shape."""
    value = next_iteration(convert_to_tensor(value))
    if checks_shape and not _is_at_least_as_known(value._dims, merge._dims):
        first = merge.op._inputs[0].op._inputs[0]
        raise ValueError(
            f"Input tensor '{first.name}' enters the loop with shape {first.shape}, but has shape {value.shape} "
            "after one iteration. To allow the shape to vary across iterations, use the `shape_invariants` argument "
            "of tf.while_loop to specify a less-specific shape."
        )
    if value.dtype.base_dtype is not merge.dtype.base_dtype:
        raise errors.InvalidArgumentError(
            None, None,
            f"Input 1 of node {merge.op.name} was passed {value.dtype.name} from {value.name} incompatible with "
            f"expected {merge.dtype.name}.",
        )  # fmt: skip
    merge.op._update_input(1, value)
    return value


def _is_at_least_as_known(dims, invariant):
    if invariant is None:
        return True
    if dims is None or len(dims) != len(invariant):
        return False
    return all(wanted is None or size == wanted for size, wanted in zip(dims, invariant, strict=True))


def apply_shape_invariants(inputs, enters, invariants):
    """Gives loop variables the shapes that hold in every round. Raises ValueError for what does not begin so."""
    for tensor, entered, shape in zip(inputs, enters, invariants, strict=True):
        if not _is_at_least_as_known(tensor._dims, shape._dims):
            raise ValueError(
                f"The shape invariant specified for {tensor.name} is not compatible with the initial shape of the "
                f"loop variable. It enters the loop with shape {tensor.shape}, but the specified shape invariant is "
                f"{shape}."
            )
        entered.set_shape(shape)


# ---- Gradients ------------------------------------------------------------------------------------------------


@exit_op.gradient
@ref_exit.gradient
def _(op, grad):
    """Where values leave a loop, gradients enter the loop backward."""
    loop = _gradient_loop()
    if not loop.back_prop:
        return None
    if op._get_control_flow_context().grad_state is not None:
        raise TypeError("Second-order gradient for while loops not supported.")
    for part in components(grad):
        loop.AddName(part.name)
    with loop:
        entered = loop.enter(grad, name="b_exit")
        loop.loop_enters.append(entered)
    return entered


@next_iteration_op.gradient
@ref_next_iteration.gradient
def _(op, grad):
    return grad  # the gradient of the Switch closes the round


@enter_op.gradient
@ref_enter.gradient
def _(op, grad):
    """Where values enter a loop, gradients leave the loop backward; those of constants are added up first."""
    loop = _gradient_loop()
    if loop is None or not loop.back_prop or loop.grad_state is None:
        return grad
    if op._attrs["is_constant"]:
        return loop.grad_state.add_up(op, grad)
    result = exit_loop(grad)
    loop.loop_exits.extend(components(result))
    loop.ExitResult(components(result))
    return result


@loop_cond.gradient
def _(op, grad):
    return None


def _gradient_loop():
    return get_default_graph()._get_control_flow_context()

"""GradientLoops: the loops that one call of tf.gradients goes through, and the order in which it does."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.shape_inference import variable_dtype
from stillflow.ops.control_flow.context import switch_ref_or_tensor
from stillflow.ops.control_flow.kinds import is_loop_exit, is_loop_switch, is_switch, while_context
from stillflow.ops.control_flow.loop_gradient import LoopGradient, _Inside, _Outside
from stillflow.ops.convert import convert_to_tensor


def loops_between(between, members, colocated):
    """The GradientLoops of the loops that are left by nodes in the list `between`, or None if there is none.

    The exits of these loops are added to `between` and to the set `members`. `colocated(op)` is the scope in which
    the gradient of a node is built.
    """
    loops = None
    for op in between:
        if is_loop_exit(op):
            if loops is None:
                loops = GradientLoops()
            with colocated(op):
                loops.add(op, between, members)
    return loops


class GradientLoops:
    def __init__(self):
        self._states: dict = {}  # loop forward -> LoopGradient

    def add(self, op, between, members):
        """Adds the loop that an Exit node leaves."""
        forward = while_context(op)
        if forward in self._states:
            return
        outer = None if forward.outer_context is None else forward.outer_context.GetWhileContext()
        state = self._states[forward] = LoopGradient(forward, self._states.get(outer))
        for tensor in state.forward_loop_exits:
            if tensor.op not in members:
                members.add(tensor.op)
                between.append(tensor.op)

    def state_of(self, op, before=False):
        """The LoopGradient of the loop that a node is in; `before` it leaves the loop, for an Exit."""
        context = op._get_control_flow_context()
        if before and is_loop_exit(op):
            context = context.outer_context
        loop = None if context is None else context.GetWhileContext()
        return self._states.get(loop)

    def backward(self, op, before=False):
        """The loop in which the gradient of a node is built, as a context manager."""
        state = self.state_of(op, before)
        return _Inside(None if state is None else state.grad_context)

    def unused_exits(self, pending, ready):
        """Exits whose gradients are zero: nothing depends on them, but they belong to loops that something needs."""
        found = []
        for state in self._states.values():
            for tensor in state.forward_loop_exits:
                if pending[tensor.op] == 0:
                    state.pending_exits_count -= 1
                    if tensor.op not in ready:
                        state.unused_exits.append(tensor)
                    if state.pending_exits_count == 0:
                        found.extend(state.unused_exits)
            # A loop is gone through even if the first values of its variables have no gradient.
            for tensor in state.forward_context.loop_enters:
                if pending[tensor.op] == 0:
                    pending[tensor.op] = 1
        return found

    # ---- Zeros ----------------------------------------------------------------------------------------------

    def zeros_for_exit(self, tensor):
        """Zeros shaped as what leaves a loop; to be called where gradients() is called."""
        forward = tensor.op._get_control_flow_context()
        outer = None if forward.outer_context is None else forward.outer_context.GetWhileContext()
        state = self._states.get(outer)
        shape = tensor.shape
        if state is None:
            if shape.is_fully_defined():
                return ops.zeros(shape.as_list(), tensor.dtype)
            return ops.zeros_like(tensor, optimize=False)
        if shape.is_fully_defined():
            with state.grad_context:
                return ops.zeros(shape.as_list(), tensor.dtype)
        with forward.outer_context:
            dynamic_shape = ops.shape_internal(tensor, optimize=False)
        history = state.add_forward_accumulator(dynamic_shape)
        with state.grad_context:
            return ops.zeros(state.add_backward_value(history, dynamic_shape), tensor.dtype)

    def zeros_like_output(self, op, index):
        """Zeros shaped as an output of a node, in the loop backward; None for the Switch of a loop's variable."""
        if is_loop_switch(op):
            return None
        state = self._states.get(while_context(op))
        if state is None:
            return ops.zeros_like_output(op, index)
        context = op._get_control_flow_context()
        is_dead = is_switch(op)
        value = convert_to_tensor(op._outputs[index], name="tensor")
        if value.shape.is_fully_defined():
            if value.dtype is dtypes.resource:
                variable = op._inputs[0] if is_dead else value
                zeros = ops.zeros(ops.variable_shape_op(variable), variable_dtype(variable))
            else:
                zeros = ops.constant(0, dtype=value.dtype, shape=value.shape.as_list())
            if not is_dead:
                return zeros
            pred = state.history_map.get(context.pred.name)
            return switch_ref_or_tensor(zeros, pred)[1 - context.branch]
        if is_dead:
            with context.outer_context:
                value = switch_ref_or_tensor(op._inputs[0], context.pred)[1 - context.branch]
                shape = ops.shape_internal(value, optimize=False)
            value.op._set_control_flow_context(context)
            shape.op._set_control_flow_context(context)
        else:
            with context:
                shape = ops.shape_internal(value, optimize=False)
        with _Outside(state.grad_context):
            history = state.add_forward_accumulator(shape, is_dead)
        return ops.zeros(state.add_backward_value(history, shape, is_dead), value.dtype)

    def finish(self):
        """Closes the rounds of variables whose last values do not depend on their first."""
        for state in self._states.values():
            for merged in state.switch_map.values():
                first, following = merged.op._inputs
                if first is following:
                    merged.op._update_input(1, _zeros_in(state.grad_context, first))


def _zeros_in(context, first):
    """Zeros shaped as what a variable of a loop begins with, for its next round."""
    if first.shape.is_fully_defined():
        with context:
            zeros = ops.constant(0, dtype=first.dtype, shape=first.shape.as_list())
            return ops.next_iteration(zeros)
    with _Inside(context.outer_context):
        zeros = ops.zeros(ops.shape_internal(first.op._inputs[0], optimize=False))
    with context:
        return ops.next_iteration(zeros)

"""Gradients of loops: for every loop forward there is one that goes through its rounds backward.

Both count their rounds. What a round backward needs to know of its round forward was pushed on a stack there, and is
popped here.
"""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.shape_inference import constant_value, handle_source
from stillflow.ops.control_flow.context import switch_ref_or_tensor
from stillflow.ops.control_flow.kinds import is_loop_constant, output_context
from stillflow.ops.control_flow.while_context import WhileContext


class _Inside:
    """`with _Inside(context)` is in a context; with None it changes nothing."""

    def __init__(self, context):
        self._context = context

    def __enter__(self):
        if self._context is not None:
            self._context.Enter()

    def __exit__(self, *exception):
        if self._context is not None:
            self._context.Exit()


class _Outside(_Inside):
    """`with _Outside(context)` leaves the context that is in force, and comes back."""

    def __enter__(self):
        self._context.Exit()

    def __exit__(self, *exception):
        self._context.Enter()


class LoopGradient:
    """A loop forward and the loop of its gradient.

    Args:
      forward_context: the loop forward.
      outer: the LoopGradient of the loop around it, or None.
    """

    def __init__(self, forward_context, outer):
        self.forward_context = forward_context
        self.outer_grad_state = outer
        self.history_map: dict = {}  # name of a tensor forward -> what it was, in the loop backward
        self.switch_map: dict = {}  # Switch forward -> the Merge of its gradient
        self.unused_exits: list = []
        self.deferred_exits: list = []
        self.forward_loop_exits = list(forward_context.loop_exits)
        self.pending_exits_count = len(forward_context.loop_exits)
        self._forward_sync = None
        self._grad_sync = None
        around = forward_context.outer_context if outer is None else outer.forward_context
        with _Inside(around):
            count, self.forward_index = self._count_forward()
        if outer is None:
            with _Inside(around):
                self.grad_context = self._new_context()
                self.grad_index = self._count_backward(count)
            return
        around.AddName(count.name)
        history = outer.add_forward_accumulator(count)
        with outer.grad_context:
            self.grad_context = self._new_context()
            self.grad_index = self._count_backward(outer.add_backward_value(history, count))

    def _new_context(self):
        forward = self.forward_context
        return WhileContext(
            forward.maximum_iterations, forward.parallel_iterations, forward.back_prop, forward.swap_memory,
            forward.name, grad_state=self,
        )  # fmt: skip

    # ---- Counting -------------------------------------------------------------------------------------------

    def _count_forward(self):
        """(the number of rounds, the counter) of the loop forward."""
        loop, outer = self.forward_context, self.outer_grad_state
        zero = ops.constant(0, name="f_count")
        if outer is not None:
            zero.op._add_control_inputs([outer.forward_index.op._inputs[0].op])  # stacks are pushed round by round
        with loop:
            loop.AddName(zero.name)
            entered = loop.enter(zero, name="f_count")
            loop.loop_enters.append(entered)
            merged = ops.merge([entered, entered])[0]
            parted = ops.switch(merged, loop.pivot)
            following = ops.next_iteration(ops.add(parted[1], 1))
            merged.op._update_input(1, following)
            total = ops.exit_loop(parted[0], name="f_count")
            loop.loop_exits.append(total)
            loop.ExitResult([total])
        return total, following

    def _count_backward(self, count):
        """The counter of the loop backward, which goes from `count` to 0."""
        loop, outer = self.grad_context, self.outer_grad_state
        one = ops.constant(1, name="b_count")
        with loop:
            loop.AddName(count.name)
            entered = loop.enter(count, name="b_count")
            loop.loop_enters.append(entered)
            merged = loop._pivot_for_pred = ops.merge([entered, entered])[0]
            loop._pivot = ops.loop_cond(ops.greater_equal(merged, one), name="b_count")
            parted = ops.switch(merged, loop.pivot)
            index = loop._pivot_for_body = ops.sub(parted[1], one)
            following = ops.next_iteration(index)
            merged.op._update_input(1, following)
            zero = ops.exit_loop(parted[0], name="b_count")
            loop.loop_exits.append(zero)
            if outer is not None:
                outer.grad_sync._add_control_input(zero.op)
            loop.ExitResult([zero])
        return following

    @property
    def forward_sync(self):
        """What the counter forward waits for: pushes are in the order of rounds."""
        if self._forward_sync is None:
            with get_default_graph().control_dependencies(None):
                self._forward_sync = ops.control_trigger(name="f_sync")
            self._forward_sync._set_control_flow_context(self.forward_context)
            self.forward_index.op._add_control_input(self._forward_sync)
        return self._forward_sync

    @property
    def grad_sync(self):
        """What the counter backward waits for: pops are in the order of rounds."""
        if self._grad_sync is None:
            with get_default_graph().control_dependencies(None):
                self._grad_sync = ops.control_trigger(name="b_sync")
            self._grad_sync._set_control_flow_context(self.grad_context)
            self.grad_index.op._add_control_input(self._grad_sync)
            if self.grad_context.outer_context is not None:
                self.grad_context.outer_context.AddInnerOp(self._grad_sync)
        return self._grad_sync

    # ---- Values of the loop forward -------------------------------------------------------------------------

    def add_forward_accumulator(self, value, is_dead_branch=False):
        """Pushes `value` in every round forward; returns the stack. To be called where gradients() is called."""
        graph = get_default_graph()
        forward = self.forward_context
        current = graph._get_control_flow_context()
        with graph.control_dependencies(None):
            with _Inside(current), graph.colocate_with(value.op):
                size = ops.constant(-1, dtypes.int32)
                stack = ops.stack_v2(max_size=size, elem_type=value.dtype.base_dtype, name="f_acc")
            inside = forward.AddValue(stack)
            context = output_context(value.op)
            if context is forward:
                push = self._push_in(forward, inside, value)
                self.forward_index.op._add_control_input(push)
            else:
                if context is None or not context.IsCondContext():
                    raise TypeError(f"value_ctxt is not a CondContext: {context}")
                push = self._push_in(context.outer_context if is_dead_branch else context, inside, value)
                if is_dead_branch:
                    push._set_control_flow_context(context)
                self.forward_sync._add_control_input(push)
            push._add_control_input(self.forward_index.op._inputs[0].op)
        return stack

    def _push_in(self, context, stack, value):
        with context:
            return ops.stack_push_v2(stack, value, swap_memory=self.forward_context.swap_memory).op

    def add_backward_value(self, history, value, is_dead_branch=False):
        """What `value`, of which `history` is the stack, was in the round at hand."""
        end, branch = history.op._get_control_flow_context(), value.op._get_control_flow_context()
        while branch is not None and branch is not end and not branch.IsCondContext():
            branch = branch.outer_context
        graph = get_default_graph()
        with graph.control_dependencies(None), self.grad_context:
            if branch is not None and branch is not end:
                way = 1 - branch.branch if is_dead_branch else branch.branch
                history = switch_ref_or_tensor(history, self._predicate_of(branch))[way]
            popped = ops.stack_pop_v2(history, elem_type=value.dtype.base_dtype)
            popped.set_shape(value.shape)
        if self.grad_context.parallel_iterations > 1:
            self.grad_sync._add_control_input(popped.op)
        return popped

    def _predicate_of(self, branch):
        """The predicate of a branch forward, as the loops backward know it."""
        state = self
        while state is not None:
            found = state.history_map.get(branch.pred.name)
            if found is not None:
                return found
            state = state.outer_grad_state
        return branch.pred

    def predicate_backward(self, pred):
        """What the predicate of a branch forward was in the round at hand."""
        found = self.history_map.get(pred.name)
        if found is None:
            with _Outside(self.grad_context):
                history = self.add_forward_accumulator(pred)
            found = self.history_map[pred.name] = self.add_backward_value(history, pred)
        return found

    def real_value(self, value):
        """What a tensor of the loop forward was in the round at hand; to be called in the loop backward."""
        found = self.history_map.get(value.name)
        if found is None:
            found = self.history_map[value.name] = self._find_real_value(value)
        return found

    def _find_real_value(self, value):
        state = self
        while True:
            constant = _loop_constant(value)
            if constant is None:
                break
            value, state = constant._inputs[0], state.outer_grad_state  # the same in every round
            if state is None:
                return self.grad_context.AddValue(value)
        if value._op.type == "Const":
            return ops.constant(constant_value(value), dtype=value.dtype)
        with _Outside(self.grad_context):
            history = state.add_forward_accumulator(value)
        found = state.add_backward_value(history, value)
        return found if state is self else self.grad_context.AddValue(found)

    # ---- Gradients of what is constant ----------------------------------------------------------------------

    def add_up(self, op, grad):
        """The sum over all rounds of the gradient of what an Enter node brings in."""
        if isinstance(grad, IndexedSlices):
            return self._add_up_slices(op, grad)
        context = self.grad_context
        with _Outside(context):
            first = self._first_sum(op, grad)
        context.AddName(first.name)
        entered = context.enter(first, name="b_acc")
        context.loop_enters.append(entered)
        merged = ops.merge([entered, entered], name="b_acc")[0]
        done, going_on = ops.switch(merged, context.pivot)
        merged.op._update_input(1, ops.next_iteration(ops.add(going_on, grad)))
        total = ops.exit_loop(done, name="b_acc")
        context.loop_exits.append(total)
        context.ExitResult([total])
        return total

    def _first_sum(self, op, grad):
        """Zeros shaped as a gradient, outside of the loop backward."""
        outer = self.grad_context.outer_context
        if grad.shape.is_fully_defined():
            with _Inside(outer):
                return ops.constant(0, grad.dtype, shape=grad.shape.as_list(), name="b_acc")
        value = op._inputs[0]
        if outer is None or not outer.IsWhileContext() or outer.grad_state is None:
            with _Inside(outer):
                return ops.zeros(ops.shape_internal(value, optimize=False), grad.dtype)
        with self.forward_context.outer_context:
            shape = ops.shape_internal(value, optimize=False)
        history = self.outer_grad_state.add_forward_accumulator(shape)
        with outer:
            return ops.zeros(self.outer_grad_state.add_backward_value(history, shape), grad.dtype)

    def _add_up_slices(self, op, grad):
        """The slices of all rounds, one after the other."""
        context = self.grad_context
        with _Outside(context), _Inside(context.outer_context):
            firsts = self._first_slices(op, grad)
        for first in firsts:
            context.AddName(first.name)
        entered = [context.enter(first, uses_shape=False, name="b_acc") for first in firsts]
        entered[0].set_shape([None])
        if firsts[1].shape.rank is not None:
            entered[1].set_shape([None, *firsts[1].shape.as_list()[1:]])
        context.loop_enters.extend(entered)
        merged = [ops.merge([tensor, tensor], name="b_acc")[0] for tensor in entered]
        parted = [ops.switch(tensor, context.pivot) for tensor in merged]
        sums = [
            ops.concat([before[1], part], 0)
            for before, part in zip(parted, (grad.indices, grad.values), strict=False)
        ]
        if grad.dense_shape is not None:
            sums.append(ops.maximum(grad.dense_shape, parted[2][1]))
        following = [ops.next_iteration(tensor) for tensor in sums]
        for merge, tensor in zip(merged, following, strict=True):
            merge.op._update_input(1, tensor)
        exits = [ops.exit_loop(tensor[0], name="b_acc") for tensor in parted]
        context.loop_exits.extend(exits)
        context.ExitResult(exits)
        return IndexedSlices(exits[1], exits[0], exits[2] if len(exits) > 2 else None)

    @staticmethod
    def _first_slices(op, grad):
        """[indices, values, dense shape] of one row of zeros."""
        values, dense_shape = grad.values, grad.dense_shape
        if values.shape.is_fully_defined():
            row = ops.constant(0, values.dtype, shape=[1, *values.shape.as_list()[1:]], name="b_acc")
        else:
            shape = ops.concat([[1], _shape_of(op._inputs[0])[1:]], 0)
            row = ops.zeros(shape, dtype=values.dtype)
        firsts = [ops.constant([0], grad.indices.dtype), row]
        if dense_shape is not None and dense_shape.shape.is_fully_defined():
            firsts.append(ops.constant(0, dense_shape.dtype, shape=dense_shape.shape.as_list()))
        elif dense_shape is not None:
            shape = ops.shape_internal(op._inputs[0], optimize=False, out_type=dense_shape.dtype)
            firsts.append(ops.zeros_like(shape, optimize=False))
        return firsts


def _shape_of(tensor):
    """A tensor's shape, or that of the variable that it is a handle of."""
    if tensor.dtype is dtypes.resource:
        return np.array(handle_source(tensor)._attrs["shape"].as_list(), np.int32)
    return ops.shape_internal(tensor, optimize=False)


def _loop_constant(value):
    """The Enter node of what a tensor in a loop is if that is the same in every round, or None."""
    op = value.op
    while op._op_def.keeps_value:
        op = op._inputs[0].op
    return op if is_loop_constant(op) else None

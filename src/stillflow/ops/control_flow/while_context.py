"""WhileContext: a loop of a graph, while it is being built and afterwards."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import collection_protos
from stillflow.graph.capture import tell_of
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.context import (
    ControlFlowContext,
    from_control_flow_context_def,
    with_scope,
    without_scope,
)
from stillflow.ops.control_flow.kinds import (
    is_loop_constant,
    is_loop_enter,
    is_loop_exit,
    output_context,
    while_context,
)


@public("python.ops.control_flow_ops.WhileContext")
class WhileContext(ControlFlowContext):
    """A loop. Nodes inside read what is outside through Enter nodes.

    Args:
      maximum_iterations: a tensor, or None.
      parallel_iterations: a positive number, kept on the nodes.
      back_prop: whether gradients go through the loop.
      swap_memory: kept on the nodes of gradients.
      name: the name of the frame, made unique.
      grad_state: for the loop of a gradient, the LoopGradient that it belongs to.
      context_def: a WhileContextDef message of a loop whose nodes are in the graph, instead of all else.
      import_scope: a name scope to put before the names in `context_def`.
    """

    def __init__(
        self, maximum_iterations=None, parallel_iterations=10, back_prop=True, swap_memory=False,
        name="while_context", grad_state=None, context_def=None, import_scope=None,
    ):  # fmt: skip
        self._grad_state = grad_state
        self._graph = get_default_graph()
        if context_def is not None:
            self._take_message(context_def, import_scope)
            return
        super().__init__()
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError(f"`parallel_iterations` must be a positive integer: {parallel_iterations}")
        self._name = self._graph.unique_name(name)
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self._swap_memory = swap_memory
        self._pivot_for_pred = None  # what nodes of the test wait for
        self._pivot_for_body = None  # what nodes of the body wait for
        self._pivot = None  # the LoopCond
        self._loop_exits: list = []
        self._loop_enters: list = []

    @property
    def maximum_iterations(self):
        return self._maximum_iterations

    @property
    def parallel_iterations(self):
        return self._parallel_iterations

    @property
    def back_prop(self):
        return self._back_prop

    @property
    def swap_memory(self):
        return self._swap_memory

    @property
    def pivot(self):
        """The tensor that says whether there is another round."""
        return self._pivot

    @property
    def loop_enters(self):
        """The tensors with which the variables begin."""
        return self._loop_enters

    @property
    def loop_exits(self):
        """The tensors with which the variables end."""
        return self._loop_exits

    @property
    def grad_state(self):
        return self._grad_state

    def GetWhileContext(self):
        return self

    def GetControlPivot(self):
        return self._pivot_for_pred if self._pivot_for_body is None else self._pivot_for_body

    def IsWhileContext(self):
        return True

    # ---- As a message ---------------------------------------------------------------------------------------

    def _take_message(self, context_def, import_scope):
        def element(name):
            return self._graph.as_graph_element(with_scope(name, import_scope))

        self._name = with_scope(context_def.context_name, import_scope)
        maximum = context_def.maximum_iterations_name
        self._maximum_iterations = element(maximum) if maximum else None
        self._parallel_iterations = context_def.parallel_iterations
        self._back_prop = context_def.back_prop
        self._swap_memory = context_def.swap_memory
        self._pivot_for_pred = element(context_def.pivot_for_pred_name)
        self._pivot_for_body = element(context_def.pivot_for_body_name)
        self._pivot = element(context_def.pivot_name)
        self._loop_exits = [element(name) for name in context_def.loop_exit_names]
        self._loop_enters = [element(name) for name in context_def.loop_enter_names]
        super().__init__(context_def.values_def, import_scope)
        if import_scope:
            for name in self._values:
                op = self._graph.as_graph_element(name).op
                if is_loop_enter(op):  # an imported loop is another frame
                    op._set_attr("frame_name", self.name.encode())

    def to_proto(self, export_scope=None):
        """The WhileContextDef message; None if the loop is not in `export_scope`."""
        from stillflow.formats import protobuf

        if export_scope is not None and not self.name.startswith(export_scope):
            return None

        def name_of(tensor):
            return without_scope(tensor.name, export_scope)

        message = protobuf.message("WhileContextDef")(
            context_name=without_scope(self.name, export_scope),
            parallel_iterations=self._parallel_iterations,
            back_prop=self._back_prop,
            swap_memory=self._swap_memory,
            pivot_for_pred_name=name_of(self._pivot_for_pred),
            pivot_for_body_name=name_of(self._pivot_for_body),
            pivot_name=name_of(self._pivot),
            loop_exit_names=map(name_of, self._loop_exits),
            loop_enter_names=map(name_of, self._loop_enters),
        )
        if self._maximum_iterations is not None:
            message.maximum_iterations_name = name_of(self._maximum_iterations)
        message.values_def.CopyFrom(self._values_def(export_scope))
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(message.nested_contexts.add(), export_scope)
        return message

    @staticmethod
    def from_proto(context_def, import_scope=None):
        """The loop that a WhileContextDef message describes; its nodes are in the default graph."""
        context = WhileContext(context_def=context_def, import_scope=import_scope)
        with context:
            for nested in context_def.nested_contexts:
                from_control_flow_context_def(nested, import_scope)
        return context

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope))

    # ---- What becomes part of it ----------------------------------------------------------------------------

    def AddValue(self, tensor):
        """The tensor that stands for `tensor` in this loop."""
        name = tensor.name
        if name in self._values or tensor.op._get_control_flow_context() is self:
            inside = self._external_values.get(name, tensor)
            if inside is not tensor:  # a tape may be younger than the Enter
                tell_of(inside.graph, tensor, inside)
            return inside
        self._values.add(name)
        real = self._value_of_forward_loop(tensor)
        if real is not None:
            self._external_values[name] = real
            return real
        outer = tensor if self._outer_context is None else self._outer_context.AddValue(tensor)
        with get_default_graph().control_dependencies(None):
            inside = self.enter(outer, is_constant=True)
            inside.graph.prevent_feeding(inside)
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(inside.op)
        self.take_enters([inside])
        self._values.add(inside.name)
        self._external_values[name] = inside
        return inside

    @staticmethod
    def _value_of_forward_loop(tensor):
        """In the loop of a gradient: what a tensor of the loop forward was in the round at hand."""
        context = get_default_graph()._get_control_flow_context()
        loop = None if context is None else context.GetWhileContext()
        if loop is None or loop.grad_state is None:
            return None
        forward = while_context(tensor.op)
        if is_loop_exit(tensor.op):
            forward = forward.outer_context
            forward = None if forward is None else forward.GetWhileContext()
        return loop.grad_state.real_value(tensor) if forward is loop.grad_state.forward_context else None

    def enter(self, tensor, is_constant=False, uses_shape=True, name=None):
        """The tensor that `tensor` becomes in the loop's frame."""
        return ops.enter(tensor, self._name, is_constant, self._parallel_iterations, uses_shape, name)

    def AddOp(self, op):
        """Makes a new node part of the loop: it reads what is outside through Enters."""
        if op._op_def.reads_shape_only:
            # In the loop of a gradient it looks at the shape in the loop forward, which sends the result.
            context = get_default_graph()._get_control_flow_context()
            loop = None if context is None else context.GetWhileContext()
            if loop is not None and loop.grad_state is not None:
                source = op._inputs[0]._op
                if while_context(source) is loop.grad_state.forward_context:
                    context = source._get_control_flow_context()
                    op._set_control_flow_context(context)
                    context.add_op(op)
                    return
        self.add_op(op)

    def add_op(self, op):
        if op._inputs:
            for index, tensor in enumerate(op._inputs):
                inside = self.AddValue(tensor)
                if inside is not tensor:
                    op._reconnect(index, inside)
            _, outside = self._drop_outside_controls(op)
            if not op._control_inputs and all(is_loop_constant(tensor._op) for tensor in op._inputs):
                op._wait_for([self.GetControlPivot().op])
        else:
            inside, outside = self._drop_outside_controls(op)
            if not inside:
                op._wait_for([self.GetControlPivot().op])
        self._values.update(tensor.name for tensor in op._outputs)
        if outside:
            self._wait_for_outside(op, outside)
        graph = op.graph
        if self._outer_context is not None or not is_loop_exit(op):
            graph.prevent_fetching(op)
            for tensor in op._outputs:
                graph.prevent_feeding(tensor)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def _wait_for_outside(self, op, outside):
        """Waiting for what is outside becomes waiting for what it brings into the loop."""
        with get_default_graph().control_dependencies(None), self:
            entered = [ops.identity(other._outputs[0]).op for other in outside if other._outputs]
        op._wait_for(entered)

    def take_enters(self, enters):
        """Makes Enter nodes part of the loop, with the control inputs of the scopes that hold outside."""
        graph = get_default_graph()
        outer_loop = None if self._outer_context is None else self._outer_context.GetWhileContext()
        for tensor in enters:
            controls = [
                control
                for control in graph._control_inputs_for([tensor._op._inputs[0]])
                if self._is_reached_without_loop(output_context(control), outer_loop)
            ]
            tensor.op._set_control_flow_context(self)
            tensor.op._wait_for(controls)
            for controller in graph._control_stack:
                controller.add_op(tensor.op)

    def _is_reached_without_loop(self, context, outer_loop):
        """Whether `context` is around this loop, with no other loop between."""
        outer = self._outer_context
        while outer is not context:
            if outer is None or outer is outer_loop:
                return False
            outer = outer.outer_context
        return True


collection_protos.register(
    GraphKeys.WHILE_CONTEXT,
    "WhileContextDef",
    lambda context, export_scope=None: context.to_proto(export_scope),
    WhileContext.from_proto,
)

"""Control flow contexts: which branch of a tf.cond the nodes of a graph are part of.

While a branch is being built its context is the graph's: every new node becomes part of it, and what it reads from
outside comes in through a Switch. Method names are TensorFlow's: programs and collections know these objects.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import collection_protos
from stillflow.graph.capture import tell_of
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.kinds import (
    is_back_edge,
    is_in_context,
    is_inside,
    is_loop_enter,
    is_loop_exit,
    is_switch,
    output_context,
)
from stillflow.ops.convert import convert_to_tensor


def with_scope(name, import_scope):
    """A name as it is when its graph has been imported into a scope; "^" and "loc:@" stay in front."""
    if not import_scope:
        return name
    for prefix in ("^", "loc:@"):
        if name.startswith(prefix):
            return f"{prefix}{import_scope}/{name.removeprefix(prefix)}"
    return f"{import_scope}/{name}"


def without_scope(name, export_scope):
    """A name as it is in a graph that is cut out of a scope."""
    return name.removeprefix(f"{export_scope}/") if export_scope else name


@public("python.ops.control_flow_ops.ControlFlowContext")
class ControlFlowContext:
    """What the contexts of branches and loops have in common."""

    _name: str

    def __init__(self, values_def=None, import_scope=None):
        self._nested_contexts: list = []
        self._outer_context = get_default_graph()._get_control_flow_context()
        if self._outer_context is not None:
            self._outer_context._nested_contexts.append(self)
        self._context_stack: list = []
        self._values: set = set()  # names of the tensors that are available inside
        self._external_values: dict = {}  # name of a tensor outside -> the tensor that stands for it inside
        if values_def is not None:
            self._take_values(values_def, import_scope)

    def _take_values(self, values_def, import_scope):
        graph = get_default_graph()
        self._values = {with_scope(name, import_scope) for name in values_def.values}
        for name, value in values_def.external_values.items():
            element = graph.as_graph_element(with_scope(value, import_scope))
            self._external_values[with_scope(name, import_scope)] = element
        for name in {name.partition(":")[0] for name in self._values - set(self._external_values)}:
            graph.as_graph_element(name)._set_control_flow_context(self)

    def _values_def(self, export_scope):
        from stillflow.formats import protobuf

        message = protobuf.message("ValuesDef")()
        message.values.extend(without_scope(name, export_scope) for name in sorted(self._values))
        for name, tensor in self._external_values.items():
            message.external_values[without_scope(name, export_scope)] = without_scope(tensor.name, export_scope)
        return message

    @property
    def name(self):
        return self._name

    @property
    def outer_context(self):
        """The context that this one is in, or None."""
        return self._outer_context

    @property
    def values(self):
        return self._values

    def AddName(self, name):
        self._values.add(name)

    def Enter(self):
        """Makes this the context of new nodes, until Exit."""
        graph = get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self):
        get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def __enter__(self):
        self.Enter()
        return self

    def __exit__(self, *exception):
        self.Exit()

    def ExitResult(self, tensors):
        """Makes tensors available in the outer context."""
        if self._outer_context is not None:
            for tensor in tensors:
                self._outer_context.AddName(tensor.name)

    def AddInnerOp(self, op):
        """Tells the contexts outside of a node inside."""
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def GetWhileContext(self):
        """The innermost loop that this is in, or None."""
        return None if self._outer_context is None else self._outer_context.GetWhileContext()

    def GetControlPivot(self):
        """What nodes wait for that nothing else ties to the context."""
        return

    def IsWhileContext(self):
        return False

    def IsCondContext(self):
        return False

    def IsXLAContext(self):
        return False

    def check_reader(self, source, reader):
        """Raises ValueError if `source`, a node in this context, cannot be an input of the node `reader`."""
        source_context = output_context(source)
        reader_context = reader._control_flow_context
        if source_context is None or source_context is reader_context:
            return
        loop = None if reader_context is None else reader_context.GetWhileContext()
        source_loop = source_context.GetWhileContext()
        if loop is None:
            if source_loop is None or is_loop_enter(reader) or is_switch(reader):
                return
            why = f"because '{source.name}' is in a while loop"
        else:
            if is_inside(loop, source_loop) or _belong_together(loop, source_loop):
                return
            why = "because they are in different while loops"
        raise ValueError(
            f"Cannot use '{source.name}' as input to '{reader.name}' {why}. See info log for more details."
        )

    def _make_known(self, names):
        """Says to this context and those around it that tensors are available inside."""
        context = self
        while context is not None:
            context._values.update(names)
            context = context._outer_context

    def _drop_outside_controls(self, op):
        """Inside a loop nodes do not wait for what is outside of it."""
        loop = self.GetWhileContext()
        if loop is None:
            return op._control_inputs, []
        inside: list = []
        outside: list = []
        for control in op._control_inputs:
            context = output_context(control)
            is_inside = context is not None and context.GetWhileContext() is loop
            (inside if is_inside else outside).append(control)
        if outside:
            op._wait_for_nothing()
            op._wait_for(inside)
        return inside, outside

    def __str__(self):
        return self.name


@public("python.ops.control_flow_ops.CondContext")
class CondContext(ControlFlowContext):
    """One branch of a tf.cond.

    Args:
      pred: the predicate.
      pivot: a tensor that is there only if this branch is taken.
      branch: 1 for the branch of a true predicate, 0 for the other.
      name: the context's name, made unique.
      context_def: a CondContextDef message of a branch whose nodes are in the graph, instead of all else.
      import_scope: a name scope to put before the names in `context_def`.
    """

    def __init__(self, pred=None, pivot=None, branch=None, name="cond_text", context_def=None, import_scope=None):
        self._name = get_default_graph().unique_name(name)
        if context_def is not None:
            self._take_message(context_def, import_scope)
            return
        super().__init__()
        self._pred = pred
        self._pivot = pivot
        self._branch = branch
        self._values.update((pred.name, pivot.name))
        self._external_values[pred.name] = pred
        pivot.op._set_control_flow_context(self)

    def _take_message(self, context_def, import_scope):
        graph = get_default_graph()
        self._name = with_scope(context_def.context_name, import_scope)
        self._pred = graph.as_graph_element(with_scope(context_def.pred_name, import_scope))
        self._pivot = graph.as_graph_element(with_scope(context_def.pivot_name, import_scope))
        self._branch = context_def.branch
        super().__init__(context_def.values_def, import_scope)

    @property
    def pred(self):
        return self._pred

    @property
    def pivot(self):
        return self._pivot

    @property
    def branch(self):
        return self._branch

    @property
    def grad_state(self):
        loop = self.GetWhileContext()
        return None if loop is None else loop.grad_state

    @property
    def back_prop(self):
        return False

    def GetControlPivot(self):
        return self._pivot

    def IsCondContext(self):
        return True

    # ---- As a message ---------------------------------------------------------------------------------------

    def to_proto(self, export_scope=None):
        """The CondContextDef message; None if the context is not in `export_scope`."""
        from stillflow.formats import protobuf

        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        message = protobuf.message("CondContextDef")(
            context_name=without_scope(self.name, export_scope),
            pred_name=without_scope(self._pred.name, export_scope),
            pivot_name=without_scope(self._pivot.name, export_scope),
            branch=self._branch,
        )
        message.values_def.CopyFrom(self._values_def(export_scope))
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(message.nested_contexts.add(), export_scope)
        return message

    @staticmethod
    def from_proto(context_def, import_scope=None):
        """The context that a CondContextDef message describes; its nodes are in the default graph."""
        context = CondContext(context_def=context_def, import_scope=import_scope)
        with context:
            for nested in context_def.nested_contexts:
                from_control_flow_context_def(nested, import_scope)
        return context

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope))

    # ---- What becomes part of it ----------------------------------------------------------------------------

    def AddOp(self, op):
        """Makes a new node part of the branch: it reads what is outside through Switches."""
        self.add_op(op)

    def add_op(self, op):
        if op._inputs:
            for index, tensor in enumerate(op._inputs):
                inside = tensor if is_back_edge(op, tensor) else self.AddValue(tensor)
                if inside is not tensor:
                    op._reconnect(index, inside)
            self._drop_outside_controls(op)
        else:
            self._drop_outside_controls(op)
            if not any(is_in_context(control, self) for control in op._control_inputs):
                op._wait_for([self._pivot.op])
        self._make_known([tensor.name for tensor in op._outputs])
        if self._outer_context is not None or not is_loop_exit(op):
            op.graph.prevent_fetching(op)
        if self._outer_context is not None:
            self._outer_context.AddInnerOp(op)

    def AddValue(self, tensor):
        """The tensor that stands for `tensor` in this branch."""
        name = tensor.name
        if name in self._values:
            inside = self._external_values.get(name, tensor)
            if inside is not tensor and inside.graph.building_function:  # in graphs tapes refuse branches
                tell_of(inside.graph, tensor, inside)
            return inside
        outer = self._from_outside(tensor)
        with get_default_graph().control_dependencies(None):
            inside = switch_ref_or_tensor(outer, self._pred)[self._branch]
            if self._outer_context is not None:
                self._outer_context.AddInnerOp(inside.op)
        inside.graph.prevent_fetching(inside.op)
        inside.op._set_control_flow_context(self)
        self._make_known([inside.name])
        self._external_values[name] = inside
        return inside

    def _from_outside(self, tensor):
        """The tensor that stands for `tensor` right outside of this branch."""
        self._values.add(tensor.name)
        if self._outer_context is None:
            return tensor
        outer = self._outer_context.AddValue(tensor)
        self._values.add(outer.name)
        self._external_values[outer.name] = outer
        return outer

    def AddResult(self, tensor):
        """What the branch returns for `tensor`: through a Switch if the tensor is from outside."""
        name = tensor.name
        if name in self._values:
            return self._external_values.get(name, tensor)
        inside = switch_ref_or_tensor(self._from_outside(tensor), self._pred)[self._branch]
        self._external_values[name] = inside
        return inside


def from_control_flow_context_def(context_def, import_scope=None):
    """The context that a ControlFlowContextDef message describes."""
    if context_def.HasField("cond_ctxt"):
        return CondContext.from_proto(context_def.cond_ctxt, import_scope)
    if context_def.HasField("while_ctxt"):
        from stillflow.ops.control_flow.while_context import WhileContext

        return WhileContext.from_proto(context_def.while_ctxt, import_scope)
    raise NotImplementedError(f"Unknown ControlFlowContextDef field: {context_def.WhichOneof('ctxt')}")


# ---- Nodes that a context is made of ------------------------------------------------------------------------


def switch_ref_or_tensor(data, pred, name="Switch"):
    """A Switch of a tensor, of a reference, or of the parts of IndexedSlices: what is there if not `pred`, if `pred`.

    It is placed with its data.
    """
    if not isinstance(data, IndexedSlices):
        data = convert_to_tensor(data, name="data")
    with get_default_graph().colocate_with(data.op, ignore_existing=True):
        if isinstance(data, Tensor) and data.dtype._is_ref_dtype:
            return ops.ref_switch(data, pred, name=name)
        return ops.switch(data, pred, name=name)


def _belong_together(loop, source_loop):
    """Whether one loop computes the gradient of another, or of what is in it."""
    state, source_state = loop.grad_state, source_loop.grad_state
    if state is not None:
        forward = state.forward_context
        if is_inside(forward, source_loop) or forward is source_loop.outer_context:
            return True
    if source_state is not None:
        forward = source_state.forward_context
        if forward is loop:
            return True
        return forward.grad_state is not None and forward.grad_state.forward_context is loop
    return False


collection_protos.register(
    GraphKeys.COND_CONTEXT,
    "CondContextDef",
    lambda context, export_scope=None: context.to_proto(export_scope),
    CondContext.from_proto,
)

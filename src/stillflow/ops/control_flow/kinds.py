"""What a node is to control flow: tensorflow.python.ops.control_flow_util."""

from __future__ import annotations

from stillflow.names import public


def _is_of_types(name, *types, doc):
    def inquiry(op):
        return op.type in types

    inquiry.__name__ = inquiry.__qualname__ = name
    inquiry.__doc__ = f"Whether an operation is {doc}."
    return inquiry


_SWITCHES, _MERGES = ("Switch", "RefSwitch"), ("Merge", "RefMerge")

IsSwitch = public("python.ops.control_flow_util.IsSwitch")(_is_of_types("IsSwitch", *_SWITCHES, doc="a Switch"))
IsMerge = public("python.ops.control_flow_util.IsMerge")(_is_of_types("IsMerge", *_MERGES, doc="a Merge"))
IsLoopEnter = public("python.ops.control_flow_util.IsLoopEnter")(
    _is_of_types("IsLoopEnter", "Enter", "RefEnter", doc="an Enter")
)
IsLoopExit = public("python.ops.control_flow_util.IsLoopExit")(
    _is_of_types("IsLoopExit", "Exit", "RefExit", doc="an Exit")
)


@public("python.ops.control_flow_util.IsLoopConstantEnter")
def IsLoopConstantEnter(op):
    """Whether an operation is an Enter of what does not change in the loop."""
    return IsLoopEnter(op) and op.get_attr("is_constant")


@public("python.ops.control_flow_util.GetOutputContext")
def GetOutputContext(op):
    """The context that an operation's outputs are in: an Exit's are outside of its loop."""
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and IsLoopExit(op) else context


@public("python.ops.control_flow_util.IsInWhileLoop")
def IsInWhileLoop(op):
    """Whether an operation is in a tf.while_loop."""
    return GetContainingWhileContext(op._get_control_flow_context()) is not None


@public("python.ops.control_flow_util.GetContainingWhileContext")
def GetContainingWhileContext(ctxt, stop_ctxt=None):
    """The context of the innermost loop around a context, itself included; or None."""
    return _nearest(ctxt, "IsWhileContext", stop_ctxt)


@public("python.ops.control_flow_util.GetContainingCondContext")
def GetContainingCondContext(ctxt):
    """The context of the innermost branch of a tf.cond around a context, itself included; or None."""
    return _nearest(ctxt, "IsCondContext")


def _nearest(context, question, stop=None):
    while context is not None:
        if getattr(context, question)() or context is stop:
            return context
        context = context.outer_context
    return None


@public("python.ops.control_flow_util.IsCondSwitch")
def IsCondSwitch(op):
    """Whether an operation is a Switch of a tf.cond."""
    if not IsSwitch(op) or not op.outputs:
        return False
    # It is not in the context of a branch itself, but what reads it is.
    readers = [reader for tensor in op.outputs for reader in tensor.consumers()]
    return all(context is not None and context.IsCondContext() for context in map(_context_around, readers))


def _context_around(op):
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and IsLoopEnter(op) else context


@public("python.ops.control_flow_util.IsCondMerge")
def IsCondMerge(op):
    """Whether an operation is a Merge of a tf.cond."""
    return IsMerge(op) and bool(op.inputs) and not any(x.op.type == "NextIteration" for x in op.inputs)


@public("python.ops.control_flow_util.IsLoopSwitch")
def IsLoopSwitch(op):
    """Whether an operation is a Switch of a tf.while_loop."""
    if not IsSwitch(op):
        return False
    context = op._get_control_flow_context()
    return context is not None and context.IsWhileContext() and not IsCondSwitch(op)


@public("python.ops.control_flow_util.IsLoopMerge")
def IsLoopMerge(op):
    """Whether an operation is a Merge of a tf.while_loop."""
    return IsMerge(op) and bool(op.inputs) and any(x.op.type == "NextIteration" for x in op.inputs)


@public("python.ops.control_flow_util.IsInXLAContext")
def IsInXLAContext(op):
    """False: nothing is compiled by XLA."""
    return False


@public("python.ops.control_flow_util.GraphOrParentsInXlaContext")
def GraphOrParentsInXlaContext(graph):
    """False: nothing is compiled by XLA."""
    return False


@public("python.ops.control_flow_util.GetContainingXLAContext")
def GetContainingXLAContext(ctxt):
    """None: nothing is compiled by XLA."""

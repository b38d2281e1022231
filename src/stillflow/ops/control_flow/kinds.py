"""What a node is to control flow, and which contexts it is in: also tensorflow.python.ops.control_flow_util."""

from __future__ import annotations

from stillflow.graph.operation import Operation
from stillflow.names import public

# ---- Kinds of nodes -------------------------------------------------------------------------------------------


@public("python.ops.control_flow_util.IsSwitch")
def is_switch(op: Operation):
    """Whether an operation is a Switch."""
    return op._op_def.special == "switch"


@public("python.ops.control_flow_util.IsMerge")
def is_merge(op: Operation):
    """Whether an operation is a Merge."""
    return op._op_def.special == "merge"


@public("python.ops.control_flow_util.IsLoopEnter")
def is_loop_enter(op: Operation):
    """Whether an operation is an Enter."""
    return op._op_def.special == "enter"


@public("python.ops.control_flow_util.IsLoopExit")
def is_loop_exit(op: Operation):
    """Whether an operation is an Exit."""
    return op._op_def.special == "exit"


@public("python.ops.control_flow_util.IsLoopConstantEnter")
def is_loop_constant(op: Operation):
    """Whether an operation brings into a loop what is the same in every round."""
    return is_loop_enter(op) and op._attrs["is_constant"]


def is_back_edge(op: Operation, tensor):
    """Whether an input of a Merge comes from the round before."""
    return is_merge(op) and tensor._op._op_def.special == "next_iteration"


@public("python.ops.control_flow_util.IsCondSwitch")
def is_cond_switch(op: Operation):
    """Whether an operation is a Switch of a tf.cond."""
    if not is_switch(op) or not op._outputs:
        return False
    # It is not in the context of a branch itself, but what reads it is.
    readers = [reader for tensor in op._outputs for reader in tensor._consumers]
    return all(context is not None and context.IsCondContext() for context in map(_context_around, readers))


@public("python.ops.control_flow_util.IsLoopSwitch")
def is_loop_switch(op: Operation):
    """Whether an operation is the Switch of a loop's variable, and not that of a branch in the loop."""
    context = op._get_control_flow_context()
    return is_switch(op) and context is not None and context.IsWhileContext() and not is_cond_switch(op)


@public("python.ops.control_flow_util.IsCondMerge")
def is_cond_merge(op: Operation):
    """Whether an operation is a Merge of a tf.cond."""
    return is_merge(op) and bool(op._inputs) and not is_loop_merge(op)


@public("python.ops.control_flow_util.IsLoopMerge")
def is_loop_merge(op: Operation):
    """Whether an operation is a Merge of a tf.while_loop."""
    return any(is_back_edge(op, tensor) for tensor in op._inputs)


# ---- Contexts of nodes ----------------------------------------------------------------------------------------


def _context_around(op):
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and is_loop_enter(op) else context


@public("python.ops.control_flow_util.GetOutputContext")
def output_context(op: Operation):
    """The context that an operation's outputs are in: an Exit's are outside of its loop."""
    context = op._get_control_flow_context()
    return context.outer_context if context is not None and is_loop_exit(op) else context


def while_context(op: Operation):
    """The innermost loop that a node is in, or None."""
    context = op._get_control_flow_context()
    return None if context is None else context.GetWhileContext()


@public("python.ops.control_flow_util.IsInWhileLoop")
def is_in_while_loop(op: Operation):
    """Whether an operation is in a tf.while_loop."""
    return while_context(op) is not None


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


def is_inside(context, outer):
    """Whether a context is `outer` or in it; every one is in None."""
    while context is not outer:
        if context is None:
            return False
        context = context.outer_context
    return True


def is_in_context(op: Operation, context):
    """Whether a node is in a context or in one inside that."""
    return is_inside(op._get_control_flow_context(), context)


# ---- XLA ------------------------------------------------------------------------------------------------------


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

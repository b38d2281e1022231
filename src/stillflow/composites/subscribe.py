"""subscribe: has nodes with a side effect run whenever somebody reads a tensor that is there already."""

from __future__ import annotations

import contextlib

from stillflow import ops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.variables.variable import Variable

_SCOPE = "/subscription/"


@public("python.framework.subscribe.subscribe")
def subscribe(tensors, side_effects):
    """Puts nodes between tensors and their readers, which run `side_effects` first.

    Args:
      tensors: a tensor or variable, or nested lists, tuples and dicts of them.
      side_effects: a function, or several, from a tensor to a list of operations or tensors that are to run before
        the tensor is read.

    Returns:
      What `tensors` is, with the new nodes' outputs. They have the tensors' values; a tensor that is subscribed again
      keeps its node. Tensors that numpy cannot hold are returned as they are.

    Raises:
      TypeError: for other things than tensors.
    """
    functions = list(side_effects) if hasattr(side_effects, "__iter__") else [side_effects]
    # What runs after an operation now waits for all of its outputs that are subscribed.
    followers: dict = {}
    return _mapped(tensors, lambda tensor: _subscribe_in_place(tensor, functions, followers))


def _mapped(tensors, function):
    kind = type(tensors)
    if isinstance(tensors, Tensor):
        return function(tensors)
    if isinstance(tensors, Variable):
        return function(tensors.value())
    if isinstance(tensors, (list, tuple)):
        items = [_mapped(item, function) for item in tensors]
        return kind(items) if kind in (list, tuple) else kind(*items)
    if kind is dict:
        return {key: _mapped(item, function) for key, item in tensors.items()}
    raise TypeError(f"subscribe's argument {tensors!r} has invalid type {kind!r}")


def _subscribe_in_place(tensor, functions, followers):
    """Subscribes on the tensor's device and in its branch or loop."""
    if not tensor.dtype.is_numpy_compatible:
        return tensor
    with contextlib.ExitStack() as stack:
        stack.enter_context(tensor.graph.device(tensor.device))
        context = tensor.op._get_control_flow_context()
        if context is not None:
            context.Enter()
            stack.callback(context.Exit)
        if is_subscribed_identity(tensor):
            return _extend(tensor, functions)
        for reader in tensor.consumers():
            if reader.outputs and is_subscribed_identity(reader.outputs[0]):
                return _extend(reader.outputs[0], functions)
        before = followers.setdefault(tensor.op, list(tensor.op._control_outputs))
        return _subscribe(tensor, functions, before)


@public("python.framework.subscribe._is_subscribed_identity")
def is_subscribed_identity(tensor):
    """Whether the tensor is one that `subscribe` returned."""
    op = tensor.op
    return op.type == "Identity" and op.name.startswith(f"{op.inputs[0].op.name}{_SCOPE}Identity")


def _run_first(tensor, functions):
    outputs: list = []
    for function in functions:
        outputs += function(tensor)
    return outputs


def _subscribe(tensor, functions, followers):
    readers = [(op, index) for op in dict.fromkeys(tensor.consumers()) for index in _places(op, tensor)]
    graph = get_default_graph()
    with graph.name_scope(tensor.op.name + _SCOPE), graph.control_dependencies(_run_first(tensor, functions)):
        result = ops.identity(tensor)
    for op, index in readers:
        op._update_input(index, result)
    for op in followers:
        others = [before for before in op.control_inputs if before is not tensor.op]
        op._remove_all_control_inputs()
        op._add_control_inputs([*others, result.op])
    return result


def _places(op, tensor):
    return [index for index, read in enumerate(op.inputs) if read is tensor]


def _extend(identity, functions):
    source = identity.op.inputs[0]
    with get_default_graph().name_scope(source.op.name + _SCOPE):
        outputs = _run_first(source, functions)
    identity.op._add_control_inputs([getattr(output, "op", output) for output in outputs])
    return identity

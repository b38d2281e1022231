"""op_callback: functions of the program that see every operation that is added to a graph or run eagerly."""

from __future__ import annotations

import threading
from typing import Any

from stillflow.formats import protobuf
from stillflow.graph.attr_value import set_message
from stillflow.names import public


class _State(threading.local):
    def __init__(self):
        self.callback_stack: list[Any] = []
        self.invoking_callbacks = False


_state = public("python.framework.op_callbacks._state")(_State())


@public("python.framework.op_callbacks.op_callback")
class op_callback:  # noqa: N801
    """A context in which `callback_fn` is called after each operation of this thread.

    Its arguments are (op_type, inputs, attrs, outputs, op_name=None, graph=None): tuples of tensors, and of the
    attributes' names and values in turns. In eager execution there is no name and no graph; the call of a traced
    function is seen as one operation of the function's name. While a graph is built, attributes are AttrValue
    messages, and tensors that the callback returns take the place of `outputs`. What a callback itself adds is not
    seen. Of nested contexts all callbacks are called, innermost first.

    Raises ValueError if `callback_fn` cannot be called, and later, where it returns another number of tensors.
    """

    def __init__(self, callback_fn):
        if callback_fn is None:
            raise ValueError("Passed callback function cannot be None.")
        if not callable(callback_fn):
            raise ValueError(
                f"Callback function passed to op_callback() is expected to be callable, but is not. Received "
                f"{callback_fn}"
            )
        self._callback = callback_fn

    def __enter__(self):
        _state.callback_stack.append(self._callback)

    def __exit__(self, *exception):
        _state.callback_stack.pop()


@public("python.framework.op_callbacks.should_invoke_op_callbacks")
def are_wanted():
    """Whether a callback of this thread is to be called."""
    return bool(_state.callback_stack) and not _state.invoking_callbacks


@public("python.framework.op_callbacks.invoke_op_callbacks")
def invoke(op_type, inputs, attrs, outputs, op_name=None, graph=None):
    """Calls the callbacks. Returns the tensors that take the place of `outputs`, or None.

    `attrs` is a tuple of names and values in turns, or a dictionary. Raises ValueError for a wrong number of tensors.
    """
    if isinstance(attrs, dict):
        attrs = tuple(part for item in attrs.items() for part in item)
    found = outputs
    _state.invoking_callbacks = True
    try:
        for callback in reversed(_state.callback_stack):
            found = callback(op_type, inputs, attrs, found, op_name=op_name, graph=graph)
            if found is not None and len(found) != len(outputs):
                raise ValueError(
                    f"The op callback returned {len(found)} tensors, which does not match the original number of "
                    f"outputs of op {op_name} ({len(outputs)})."
                )
    finally:
        _state.invoking_callbacks = False
    return found


def outputs_of_node(op):
    """What takes the place of a new node's outputs."""
    if op.type == "Placeholder":  # an argument of a function, which stays one
        return op._outputs
    attrs = {}
    for name, value in op._attrs.items():
        attrs[name] = protobuf.message("AttrValue")()
        set_message(attrs[name], value)
    outputs = tuple(op._outputs)
    found = invoke(op.type, tuple(op._inputs), attrs, outputs, op._name, op._graph)
    return outputs if found is None else found


def after_execution(op):
    """Shows the callbacks an operation that was run eagerly."""
    # TensorFlow's runtime knows types by their numbers.
    attrs = {name: getattr(value, "as_datatype_enum", value) for name, value in op._attrs.items()}
    name = op._op_def.name
    function = attrs.get("f")
    if name in ("PartitionedCall", "StatefulPartitionedCall") and function is not None:
        name, attrs = function.name.encode(), {}
    invoke(name, tuple(op._inputs), attrs, tuple(op._outputs))

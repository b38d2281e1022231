"""Calls: a cache of checked op calls, so that calls of the same signature skip the checks."""

from __future__ import annotations

import contextlib
from typing import Any

from stillflow.eager.compiled_ops import distinct
from stillflow.eager.operation import DeclaredOperation, ExecutedOperation
from stillflow.eager.tensor import EagerTensor
from stillflow.graph import recording
from stillflow.graph.operation import Tensor

# So many kinds of calls are remembered; then it begins anew.
_MOST_CALLS = 4096


class _Call:
    __slots__ = ("attrs", "run", "types")

    def __init__(self, attrs, types, run):
        self.attrs = attrs
        self.types = types  # of the outputs
        self.run = run  # input tensors -> values of the outputs


class Calls:
    """What calls of ops have led to.

    Calls are alike if their tensors have the same types, or are the same handles, and all else is equal. Those with
    values that have yet to become tensors are not remembered.
    """

    def __init__(self, graph):
        self._graph = graph
        self._calls: dict = {}
        self._input_names: dict = {}  # op type -> names

    def forget(self):
        self._calls.clear()

    def repeat(self, op_def, name, arguments):
        """The operation, executed with these arguments, if there has been such a call; otherwise None."""
        key, inputs, calls = self._key(op_def, arguments)
        try:
            call = calls[key]
        except (KeyError, TypeError):
            return None
        graph = self._graph
        values = call.run(inputs)
        outputs = [EagerTensor(graph, value, dtype) for value, dtype in zip(values, call.types, strict=True)]
        op = ExecutedOperation(graph, op_def, op_def.name if name is None else name, inputs, call.attrs, outputs)
        recording.record(op)
        return op

    def note(self, op, run, arguments):
        """Remembers a call that has been executed: `run(inputs)` gives the values of its outputs."""
        key, _, calls = self._key(op._op_def, arguments)
        if key is None:
            return
        if len(calls) >= _MOST_CALLS:
            calls.clear()
        with contextlib.suppress(TypeError):  # for what cannot be told from other things
            calls[key] = _Call(op._attrs, [tensor._dtype for tensor in op._outputs], run)

    def _key(self, op_def, arguments):
        """(what calls that are alike have in common, the input tensors, where such calls are kept).

        Calls that use a handle are kept with it. The first is None if it cannot be told what they have in common.
        """
        names = self._input_names.get(op_def.name)
        if names is None:
            names = self._input_names[op_def.name] = frozenset(arg.name for arg in op_def.inputs)
        key: list = [op_def.name]
        inputs: list = []
        handle: Any = None
        for arg in op_def.inputs:
            value = arguments.get(arg.name)
            if type(value) is EagerTensor:
                key.append(value._dtype)
                inputs.append(value)
                continue
            for tensor in value if arg.is_list and isinstance(value, (list, tuple)) else (value,):
                if not isinstance(tensor, Tensor):
                    return None, None, self._calls
                if tensor._value is None:
                    op = tensor._op
                    if type(op) is not DeclaredOperation:
                        return None, None, self._calls
                    key.append((op._name, tensor._value_index))
                    handle = op if handle is None or op.number > handle.number else handle
                else:
                    key.append(tensor._dtype)
                inputs.append(tensor)
            key.append(len(inputs))
        if len(arguments) > len(names):
            for name, value in arguments.items():
                if name not in names:
                    key.append((name, type(value), distinct(value)))
        return tuple(key), inputs, self._calls if handle is None else handle.calls

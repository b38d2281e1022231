"""ExpressionEvaluator: expressions of Python over dumped tensors, whose names stand in backticks."""

from __future__ import annotations

import re

import numpy as np

from stillflow.debug.dumps.dump_dir import WatchKeyDoesNotExistInDebugDumpDirError
from stillflow.names import public_module

public_module("python.debug.cli.evaluator")

_TENSOR = re.compile("`(.*?)`")
_DEVICE = re.compile(r"(/job:\w+/replica:\d+/task:\d+/(?:device:)?\w+:\d+):")
_INDEX = re.compile(r"\[(\d+)\]$")


def _parse_debug_tensor_name(debug_tensor_name):
    """(device or None, node, output, debug op, number of the dump) of "[device:]node:0[:op][[2]]".

    Raises ValueError for other names.
    """
    device = _DEVICE.match(debug_tensor_name)
    name = debug_tensor_name[device.end() :] if device else debug_tensor_name
    number = _INDEX.search(name)
    parts = (name[: number.start()] if number else name).split(":")
    if len(parts) not in (2, 3) or any("[" in part for part in parts):
        raise ValueError(
            f"The debug tensor name in the to-be-evaluated expression is malformed: '{debug_tensor_name}'"
        )
    debug_op = parts[2] if len(parts) == 3 else "DebugIdentity"
    return (
        device.group(1) if device else None,
        parts[0],
        int(parts[1]),
        debug_op,
        int(number.group(1)) if number else 0,
    )


class ExpressionEvaluator:
    """Evaluates expressions over the tensors of a DebugDumpDir, with numpy as `np`."""

    def __init__(self, dump):
        self._dump = dump
        self._values: dict = {}  # name -> value

    def evaluate(self, expression):
        """The value of an expression such as "np.argmax(`Softmax:0`)".

        Raises ValueError if a name is malformed or its value was not dumped, and what the expression raises.
        """
        names: dict = {}  # name of a tensor -> variable of the expression
        for match in _TENSOR.finditer(expression):
            names.setdefault(match.group(1).strip(), f"_tensor_{len(names)}")
        values = {variable: self._value(name) for name, variable in names.items()}
        code = _TENSOR.sub(lambda match: names[match.group(1).strip()], expression)
        return eval(code, {"np": np, **values})

    def _value(self, name):
        if name not in self._values:
            device, node, slot, debug_op, number = _parse_debug_tensor_name(name)
            try:
                self._values[name] = self._dump.get_tensors(node, slot, debug_op, device_name=device)[number]
            except WatchKeyDoesNotExistInDebugDumpDirError:
                raise ValueError(
                    f"Eval failed due to the value of {node}:{slot}:DebugIdentity being unavailable"
                ) from None
        return self._values[name]

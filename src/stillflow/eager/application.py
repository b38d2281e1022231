"""Calls of ops in eager execution: conversion of their arguments, and errors for wrong ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import errors
from stillflow.eager import op_errors
from stillflow.graph import op_callbacks
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.ops import build, convert
from stillflow.ops.build import Application


@eager_version_of(build.apply)
def apply(op_def, name, arguments):
    """Runs an op and returns its outputs: a tensor, a list, a named tuple, or None if it is declared without any."""
    graph: Any = get_default_graph()
    try:
        op = graph.repeat_call(op_def, name, arguments)
        if op is None:
            op = EagerApplication(op_def, dict(arguments)).add(name)
            graph.note_call(op, arguments)
    except errors.OpError as error:
        raise op_errors.named(error, name) from None
    if op_callbacks.are_wanted():
        op_callbacks.after_execution(op)
    return build.structured_outputs(op_def, op._attrs, op._outputs) if op_def.outputs else None


class EagerApplication(Application):
    """One call being checked. A value takes the type of the tensors that it goes with; kernels refuse other types."""

    def add(self, name):
        for arg in reversed((*self.op_def.inputs, *self.op_def.outputs)):
            if arg.is_ref:
                name = build.python_name(self.op_def)
                raise RuntimeError(f"{name} op does not support eager execution. Arg '{arg.name}' is a ref.")
        # Nothing is found by its name: whatever else is given for one does not matter.
        return super().add(name if isinstance(name, (str, bytes)) else None)

    def _infer_number(self, arg, values):
        known = self.attrs.get(arg.number_attr)
        if known is not None and known != len(values):
            super()._infer_number(arg, values)  # raises
        try:
            super()._infer_number(arg, values)
        except ValueError as error:
            raise op_errors.of_kernel(self.op_def.name, error) from None

    def _add_attrs(self):
        for name, value in self.arguments.items():
            if type(value) is np.bool_:
                self.arguments[name] = bool(value)
        try:
            super()._add_attrs()
        except ValueError as error:
            raise op_errors.of_kernel(self.op_def.name, error) from None

    def _type_of_others(self, arg):
        for other in self.op_def.inputs:
            if other.type_attr == arg.type_attr and not other.is_list:
                value = self.arguments.get(other.name)
                if isinstance(value, Tensor) or hasattr(value, "_as_graph_element"):
                    return value.dtype.base_dtype
        return None

    def _unexpected(self, arg, value, dtype, error):
        return error

    def _mismatch(self, arg, value, dtype):
        try:
            found = convert.convert_to_tensor(value, as_ref=arg.is_ref).dtype
        except ValueError as error:
            return error
        return op_errors.wrong_input(self.op_def.name, len(self.inputs), dtype, found)

    def _wrong_type(self, expected, observed, text):
        return op_errors.wrong_input(self.op_def.name, len(self.inputs), expected, observed)

    def _check_allowed(self, dtype, attr, parameter):
        if attr.allowed is not None and dtype not in attr.allowed:
            raise op_errors.no_kernel(self.op_def.name, attr.name, dtype, attr.allowed)

    def _list_mismatch(self, arg, values, dtype):
        """The error for the first item of another type than is expected. Raises that of its conversion."""
        expected = dtype
        for i, value in enumerate(values):
            given = value.dtype.base_dtype if isinstance(value, Tensor) else None
            observed = convert.convert_to_tensor(value, expected if given is None else None).dtype.base_dtype
            expected = observed if expected is None else expected
            if observed is not expected:
                return op_errors.wrong_input(self.op_def.name, len(self.inputs) + i, expected, observed)
        return TypeError(f"Tensors in list passed to '{arg.name}' of '{self.op_def.name}' Op are invalid: {values}")

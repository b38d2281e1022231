"""apply: turns a call of a declared op into a node, as TensorFlow's op library does.

Inputs that are no tensors become constants named after the argument, in the node's own name scope; type
attributes are inferred from inputs in order.
"""

from __future__ import annotations

import collections
import functools
import inspect
import re
from typing import Any

import numpy as np

from stillflow.graph import dtypes, op_callbacks
from stillflow.graph import op_def as op_defs
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_call import FunctionCall
from stillflow.graph.mode import by_mode
from stillflow.graph.name_scope import graph_of_inputs
from stillflow.graph.op_def import Arg, AttrDef, OpDef
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import as_shape
from stillflow.ops import convert, dispatch
from stillflow.ops.attribute_values import make_bool, make_int, make_str


def parameter_names(op_def: OpDef) -> list[str]:
    """The order of positional arguments: inputs, then attributes that inputs do not determine, defaults last."""
    inferred: set = set()
    for arg in op_def.inputs:
        inferred.update((arg.type_attr, arg.type_list_attr, arg.number_attr))
    attrs = [attr for attr in op_def.attrs.values() if attr.name not in inferred]
    attrs.sort(key=lambda attr: attr.has_default)
    return [*(arg.name for arg in op_def.inputs), *(attr.name for attr in attrs)]


def python_name(op_def: OpDef) -> str:
    """What TensorFlow calls the function of an op: "mat_mul" for MatMul."""
    return re.sub("(?<=[a-z])(?=[A-Z])|(?<=.)(?=[A-Z][a-z])", "_", op_def.name).lower()


def function_of(op_def: OpDef) -> Any:
    """The function that adds a node of an op. It takes inputs and attributes in their order, and `name`."""
    parameters = [*parameter_names(op_def), "name"]
    handlers: list = []  # see dispatch.dispatched

    # No parameter of its own: what is loaded from a configuration of a Lambda layer has no defaults of keywords.
    def add(*args, **kwargs):
        name = kwargs.pop("name", None)
        if args:
            if len(args) > len(parameters):
                raise TypeError(
                    f"{python_name(op_def)}() takes {len(parameters)} positional arguments but {len(args)} were given"
                )
            kwargs.update(zip(parameters, args, strict=False))
            name = kwargs.pop("name", name)
        try:
            return apply(op_def, name, kwargs)
        except (TypeError, ValueError):
            result = dispatch.handled(handlers, (), kwargs if name is None else {**kwargs, "name": name})
            if result is NotImplemented:
                raise
            return result

    vars(add)["handlers"] = handlers
    return add


_INDEX_TYPES = ((dtypes.int32, dtypes.int64), (dtypes.int64, dtypes.int32))
# Defaults that TensorFlow's functions have instead of those of the ops.
_DEFAULTS_OF_FUNCTIONS = {("SdcaOptimizer", "adaptative"): True, ("SdcaOptimizerV2", "adaptive"): True}


def _default_of(op_def: OpDef, attr: AttrDef):
    return _DEFAULTS_OF_FUNCTIONS.get((op_def.name, attr.name), attr.default)


def _python_default(op_def: OpDef, attr: AttrDef):
    """A default as people write it: float attributes are kept as float32."""
    kind, value = attr.kind.removeprefix("list(").removesuffix(")"), _default_of(op_def, attr)
    if kind == "float":
        if isinstance(value, tuple):
            return tuple(float(str(np.float32(item))) for item in value)
        return float(str(np.float32(value)))
    if attr.kind == "shape" and value.rank is None:
        return None
    return value.decode() if isinstance(value, bytes) else value


def signature(op_def: OpDef) -> inspect.Signature:
    """What a function that adds a node takes: inputs, attributes with their defaults, and the node's name."""
    found = []
    for name in parameter_names(op_def):
        attr = op_def.attrs.get(name)
        default: Any = inspect.Parameter.empty
        if attr is not None and attr.has_default:
            default = _python_default(op_def, attr)
        found.append(inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    found.append(inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(found)


@by_mode
def apply(op_def: OpDef, name, arguments: dict):
    """Adds a node and returns its outputs: a Tensor, a list, a named tuple, or the Operation if there are none."""
    op = Application(op_def, dict(arguments)).add(name)
    if not op._outputs:
        return op
    return structured_outputs(
        op_def, op._attrs, op_callbacks.outputs_of_node(op) if op_callbacks.are_wanted() else op._outputs
    )


def structured_outputs(op_def, attrs, tensors):
    """The outputs of an operation: a Tensor, a list, or a named tuple of both, as they are declared."""
    outputs = iter(tensors)
    structured = []
    for arg in op_def.outputs:
        if arg.is_list:
            count = len(attrs[arg.type_list_attr]) if arg.type_list_attr else attrs[arg.number_attr]
            structured.append([next(outputs) for _ in range(count)])
        else:
            structured.append(next(outputs))
    return structured[0] if len(structured) == 1 else _output_tuple(op_def.name)(*structured)


@functools.cache
def _output_tuple(op_type):
    """The named tuple type of an op with several outputs."""
    op_def = op_defs.find(op_type)
    assert op_def is not None
    fields = [arg.name for arg in op_def.outputs]
    return collections.namedtuple(op_type, fields)


class Application:
    """One call being checked: the attribute values found so far, and where each was found."""

    def __init__(self, op_def, arguments):
        self.op_def = op_def
        self.arguments = arguments
        self.attrs = {}
        self.inferred_from = {}
        self.inputs = []
        self.references = []

    def add(self, name):
        op_def = self.op_def
        graph = graph_of_inputs(self.arguments.values())
        name = op_def.name if name is None else name
        with (
            graph.as_default() if graph is not get_default_graph() else _NO_SCOPE,
            graph.name_scope(name) as scope,
        ):
            for arg in op_def.inputs:
                if arg.name not in self.arguments:
                    raise TypeError(f"No argument for input {arg.name}")
                value = self.arguments.pop(arg.name)
                if arg.is_list:
                    self._add_list_input(arg, value)
                else:
                    self._add_input(arg, value)
            self._add_attrs()
            if self.references:
                with _colocated(graph, self.references):
                    return graph._add_node(op_def, self.inputs, self.attrs, scope)
            return graph._add_node(op_def, self.inputs, self.attrs, scope)

    # ---- Inputs -------------------------------------------------------------------------------------------

    def _default_type(self, attr_name):
        attr = self.op_def.attrs.get(attr_name)
        return attr.default if attr is not None and attr.kind == "type" and attr.has_default else None

    def _add_input(self, arg: Arg, value):
        dtype = arg.dtype if arg.dtype is not None else self.attrs.get(arg.type_attr)
        if dtype is None and not isinstance(value, Tensor):
            dtype = self._type_of_others(arg)
            if dtype is None and self._is_index(arg):
                value = convert.widened(value)
        preferred = self._default_type(arg.type_attr) if dtype is None else None
        tensor = self._convert(arg, value, dtype, preferred)
        base = tensor._dtype.base_dtype
        if arg.dtype is None:
            self._infer_type(arg, base)
        elif base is not arg.dtype:
            raise self._wrong_type(
                arg.dtype, base,
                f"Input '{arg.name}' of '{self.op_def.name}' Op has type {base.name} that does not match expected "
                f"type of {arg.dtype.name}.",
            )  # fmt: skip
        if arg.is_ref:
            if not tensor._dtype._is_ref_dtype:
                raise TypeError(
                    f"'{self.op_def.name}' Op requires that input '{arg.name}' be a mutable tensor "
                    "(e.g.: a tf.Variable)"
                )
            self.references.append(tensor)
        self.inputs.append(tensor)

    def _is_index(self, arg):
        """Whether the input holds sizes or indices."""
        attr = self.op_def.attrs.get(arg.type_attr)
        return attr is not None and attr.allowed in _INDEX_TYPES

    def _type_of_others(self, arg):
        """The type that a value which is no tensor takes from the inputs to come, or None: here it has its own."""
        return

    def _convert(self, arg, value, dtype, preferred):
        try:
            return convert.convert_to_tensor(value, dtype, arg.name, preferred, as_ref=arg.is_ref)
        except TypeError as error:
            if dtype is None:
                raise
            raise self._unexpected(arg, value, dtype, error) from None
        except ValueError:
            raise self._mismatch(arg, value, dtype) from None

    def _unexpected(self, arg, value, dtype, error):
        """The error for a value that `error` says cannot become a tensor of the type asked for."""
        return TypeError(
            f"Expected {dtype.name} passed to parameter '{arg.name}' of op '{self.op_def.name}', got {value!r} of "
            f"type '{type(value).__name__}' instead. Error: {error}"
        )

    def _mismatch(self, arg, value, dtype):
        """The error for a tensor, or what can become one, of another type than the one asked for."""
        try:
            found = convert.convert_to_tensor(value, as_ref=arg.is_ref).dtype
        except ValueError as error:
            return ValueError(f"Tried to convert '{arg.name}' to a tensor and failed. Error: {error}")
        prefix = f"Input '{arg.name}' of '{self.op_def.name}' Op has type {found.name} that does not match"
        if arg.dtype is not None:
            return TypeError(f"{prefix} expected type of {arg.dtype.name}.")
        return TypeError(f"{prefix} type {dtype.name} of argument '{self.inferred_from[arg.type_attr]}'.")

    def _wrong_type(self, expected, observed, text):
        """The error for an input of another type than is expected, which `text` tells."""
        return TypeError(text)

    def _check_allowed(self, dtype, attr, parameter):
        _check_allowed(dtype, attr, parameter)

    def _infer_type(self, arg, base):
        known = self.attrs.get(arg.type_attr)
        if known is None:
            self._check_allowed(base, self.op_def.attrs[arg.type_attr], arg.name)
            self.attrs[arg.type_attr] = base
            self.inferred_from[arg.type_attr] = arg.name
        elif known is not base:
            raise self._wrong_type(
                known, base,
                f"Input '{arg.name}' of '{self.op_def.name}' Op has type {base.name} that does not match type "
                f"{known.name} of argument '{self.inferred_from[arg.type_attr]}'.",
            )  # fmt: skip

    def _add_list_input(self, arg: Arg, values):
        if not isinstance(values, (list, tuple)):
            raise TypeError(f"Expected list for '{arg.name}' argument to '{self.op_def.name}' Op, not {values}.")
        dtype = arg.dtype
        preferred = None
        if dtype is None and arg.number_attr is not None:
            dtype = self.attrs.get(arg.type_attr)
            if dtype is None:
                dtype = next((v.dtype.base_dtype for v in values if isinstance(v, Tensor)), None)
            if dtype is None:
                preferred = self._default_type(arg.type_attr)
        try:
            tensors = convert.convert_n_to_tensor(values, dtype, arg.name, preferred, as_ref=arg.is_ref)
            types = [tensor._dtype.base_dtype for tensor in tensors]
            if arg.number_attr is not None and len(set(types)) > 1:
                raise TypeError
        except (TypeError, ValueError):
            raise self._list_mismatch(arg, values, dtype) from None
        if arg.type_list_attr is not None:
            self._infer_type_list(arg, types)
        else:
            self._infer_number(arg, values)
            if arg.dtype is None:
                if not types and arg.type_attr not in self.attrs:
                    raise TypeError(
                        f"Don't know how to infer type variable from empty input list passed to input "
                        f"'{arg.name}' of '{self.op_def.name}' Op."
                    )
                if types:
                    self._infer_type(arg, types[0])
        if arg.is_ref:
            self.references.extend(tensors)
        self.inputs.extend(tensors)

    def _infer_number(self, arg, values):
        known = self.attrs.get(arg.number_attr)
        minimum = self.op_def.attrs[arg.number_attr].minimum
        if known is not None and known != len(values):
            raise ValueError(
                f"List argument '{arg.name}' to '{self.op_def.name}' Op with length {len(values)} must match "
                f"length {known} of argument '{self.inferred_from[arg.number_attr]}'."
            )
        if minimum is not None and len(values) < minimum:
            raise ValueError(
                f"List argument '{arg.name}' to '{self.op_def.name}' Op with length {len(values)} shorter than "
                f"minimum length {minimum}."
            )
        self.attrs[arg.number_attr] = len(values)
        self.inferred_from.setdefault(arg.number_attr, arg.name)

    def _infer_type_list(self, arg, types):
        known = self.attrs.get(arg.type_list_attr)
        if known is not None and tuple(known) != tuple(types):
            raise TypeError(
                f"Input '{arg.name}' of '{self.op_def.name}' Op has type list of "
                f"{', '.join(t.name for t in types)} that does not match type list "
                f"{', '.join(t.name for t in known)} of argument '{self.inferred_from[arg.type_list_attr]}'."
            )
        attr = self.op_def.attrs[arg.type_list_attr]
        if attr.minimum is not None and len(types) < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{self.op_def.name}' Op passed list of length {len(types)} less than minimum "
                f"{attr.minimum}."
            )
        for dtype in types:
            self._check_allowed(dtype, attr, arg.name)
        self.attrs[arg.type_list_attr] = tuple(types)
        self.inferred_from[arg.type_list_attr] = arg.name

    def _list_mismatch(self, arg, values, dtype):
        """The error for a list whose items are no tensors of one type."""
        observed = []
        for value in values:
            try:
                observed.append(convert.convert_to_tensor(value, as_ref=arg.is_ref).dtype.base_dtype.name)
            except (TypeError, ValueError):
                observed.append("<NOT CONVERTIBLE TO TENSOR>")
        prefix = (
            f"Tensors in list passed to '{arg.name}' of '{self.op_def.name}' Op have types [{', '.join(observed)}]"
        )
        if arg.number_attr is None:
            return TypeError(f"{prefix} that are invalid. Tensors: {values}")
        if arg.dtype is not None:
            return TypeError(f"{prefix} that do not match expected type {dtype.name}.")
        if arg.type_attr in self.attrs:
            return TypeError(f"{prefix} that do not match type {dtype.name} inferred from earlier arguments.")
        return TypeError(f"{prefix} that don't all match.")

    # ---- Attributes ---------------------------------------------------------------------------------------

    def _add_attrs(self):
        for attr in self.op_def.attrs.values():
            if attr.name in self.attrs:
                if attr.name in self.arguments:
                    raise TypeError(f"Should not specify value for inferred attr '{attr.name}'.")
                continue
            is_given = attr.name in self.arguments
            value = self.arguments.pop(attr.name, None)
            if value is not None or (is_given and not attr.has_default):
                self.attrs[attr.name] = attr_value(attr, value, self.op_def)
            elif attr.has_default:
                self.attrs[attr.name] = _default_of(self.op_def, attr)
            else:
                raise TypeError(f"No argument for attr {attr.name}")
        if self.arguments:
            unexpected = min(self.arguments)
            raise TypeError(f"{python_name(self.op_def)}() got an unexpected keyword argument '{unexpected}'")
        # In the order of the declaration, so that equal nodes are written equally.
        self.attrs = {name: self.attrs[name] for name in self.op_def.attrs}


def _check_allowed(dtype, attr: AttrDef, parameter):
    if attr.allowed is not None and dtype not in attr.allowed:
        allowed = ", ".join(allowed.name for allowed in attr.allowed)
        raise TypeError(
            f"Value passed to parameter '{parameter}' has DataType {dtype.name} not in list of allowed values: "
            f"{allowed}"
        )


def attr_value(attr: AttrDef, value, op_def: OpDef):
    """`value` in the form in which nodes keep attributes of this kind. Raises TypeError or ValueError."""
    op_name = op_def.name
    if attr.kind.startswith("list("):
        if not isinstance(value, (list, tuple)):
            raise TypeError(f"Expected list for '{attr.name}' argument to '{python_name(op_def)}' Op, not {value!r}.")
        if attr.minimum is not None and len(value) < attr.minimum:
            raise ValueError(
                f"Attr '{attr.name}' of '{op_name}' Op passed list of length {len(value)} less than minimum "
                f"{attr.minimum}."
            )
        kind = attr.kind[5:-1]
        return tuple(_scalar_attr(attr, kind, item, op_name) for item in value)
    value = _scalar_attr(attr, attr.kind, value, op_name)
    if attr.kind == "int" and attr.minimum is not None and value < attr.minimum:
        raise ValueError(f"Attr '{attr.name}' of '{op_name}' Op passed {value} less than minimum {attr.minimum}.")
    return value


def _scalar_attr(attr, kind, value, op_name):
    if kind == "string":
        value = make_str(value, attr.name)
        if attr.allowed is not None and value not in attr.allowed:
            allowed = '", "'.join(item.decode() for item in attr.allowed)
            raise ValueError(
                f"Attr '{attr.name}' of '{op_name}' Op passed string '{value.decode()}' not in: \"{allowed}\"."
            )
        return value
    if kind == "int":
        return make_int(value, attr.name)
    if kind == "float":
        if isinstance(value, (str, bytes)):
            raise TypeError(f"Expected float for argument '{attr.name}' not {value!r}.")
        try:
            with np.errstate(over="ignore"):
                return float(np.float32(float(value)))  # as a NodeDef holds it
        except (TypeError, ValueError):
            raise TypeError(f"Expected float for argument '{attr.name}' not {value!r}.") from None
    if kind == "bool":
        return make_bool(value, attr.name)
    if kind == "type":
        try:
            dtype = dtypes.as_dtype(value).base_dtype
        except TypeError:
            raise TypeError(f"Expected DataType for argument '{attr.name}' not {value!r}.") from None
        _check_allowed(dtype, attr, attr.name)
        return dtype
    if kind == "func":
        return _function_attr(attr, value)
    if kind == "shape":
        try:
            return as_shape(value)
        except (TypeError, ValueError) as error:
            raise type(error)(f"Don't know how to convert {value!r} to a TensorShapeProto for argument "
                              f"'{attr.name}': {error}") from None  # fmt: skip
    return value


def _function_attr(attr, value):
    """The call of a function that an attribute names; a function becomes part of the graph."""
    if isinstance(value, FunctionCall):
        return value
    if isinstance(value, (str, bytes)):
        return FunctionCall(value if isinstance(value, str) else value.decode())
    if not hasattr(value, "add_to_graph"):
        raise TypeError(f"Don't know how to convert {value!r} to a func for argument {attr.name}")
    value.add_to_graph(get_default_graph())
    return FunctionCall(value.name)


class _NoScope:
    def __enter__(self):
        return None

    def __exit__(self, *exception):
        return False


_NO_SCOPE = _NoScope()


def _colocated(graph, references):
    """Scopes that place a node with the variables that it changes."""
    import contextlib

    stack = contextlib.ExitStack()
    for reference in references:
        stack.enter_context(graph.colocate_with(reference._op, ignore_existing=False))
    return stack

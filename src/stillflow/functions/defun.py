"""tensorflow.python.framework.function: Python functions as functions of the graph, called by their names."""

from __future__ import annotations

import base64
import hashlib
import inspect
from typing import Any

from stillflow import errors
from stillflow.formats.protobuf import to_bytes
from stillflow.functions import numbers
from stillflow.functions.call import call_op_def
from stillflow.functions.copying_graph import CopyingGraph
from stillflow.functions.function import Function
from stillflow.functions.function_graph import FunctionGraph
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.function_def import function_def_message
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.ops.array.placeholder import placeholder
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.functions.symbolic_gradient import gradient_of_call
from stillflow.variables.scope import (
    default_variable_store,
    get_variable_scope,
    share_variables_with_function,
    variable_scope,
)

# What types are called in the names of functions whose types are found when they are called.
_SHORT = {
    "float16": "f16", "float32": "f32", "float64": "f64", "int32": "i32", "uint8": "i8", "uint16": "u16",
    "uint32": "u32", "uint64": "u64", "int8": "i8", "int16": "i16", "int64": "i64", "string": "s", "complex64": "c64",
    "complex128": "c128", "bool": "b", "qint8": "qi8", "quint8": "qu8", "qint32": "qi32", "qint16": "qi16",
    "quint16": "qu16", "bfloat16": "b16",
}  # fmt: skip


class _Body(FunctionGraph):
    """The body of such a function. Variables are made around it; of resource variables it has the values."""

    def __init__(self, name, by_value):
        super().__init__(name)
        self._by_value = by_value
        self._outer_scope = get_variable_scope()
        share_variables_with_function(self)
        self._seed = None
        self.extra_vars: list = []

    @property
    def extra_inputs(self):
        return self.external_captures

    @property
    def extra_args(self):
        return [inside for _, inside in self.captures]

    def _name_for(self, tensor):
        return None

    def control_dependencies(self, control_inputs):
        """Raises ValueError for what is outside, which such a function cannot wait for."""
        return Graph.control_dependencies(self, control_inputs)

    def get_variable(
        self, getter, name, shape=None, dtype=None, initializer=None, reuse=None, trainable=True, collections=None,
        use_resource=None, **kwargs,
    ):  # fmt: skip
        """A custom getter of variables: they are made in the scope around the function."""
        with self.outer_graph.as_default():
            variable = self._outer_scope.get_variable(
                default_variable_store(), name, shape=shape, dtype=dtype, initializer=initializer, reuse=reuse,
                trainable=trainable, collections=collections, use_resource=use_resource,
            )  # fmt: skip
            self.extra_vars.append(variable)
            return variable.value() if self._by_value and hasattr(variable, "handle") else variable


class _CopyingBody(CopyingGraph, _Body):
    """The body of a function that has copies of what it uses from outside."""

    def __init__(self, name, by_value, allowed):
        _Body.__init__(self, name, by_value)
        self.allow(allowed)


@public("python.framework.function._DefinedFunction")
class DefinedFunction:
    """A function of given types. It is made when it is first called, or asked for its name."""

    def __init__(
        self, func, argnames, input_types, func_name=None, grad_func=None, python_grad_func=None, out_names=None,
        shape_func=None, capture_by_value=False, whitelisted_stateful_ops=None, capture_resource_var_by_value=True,
        **kwargs,
    ):  # fmt: skip
        self._func = func
        self._types = tuple(dtypes.as_dtype(dtype) for dtype in input_types)
        self._arg_names = [argnames[i] if i < len(argnames) else f"arg{i}" for i in range(len(input_types))]
        self._name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._allowed = (whitelisted_stateful_ops or ()) if capture_by_value else None
        self._by_value = capture_resource_var_by_value
        self._attrs = kwargs
        self._devices = get_default_graph()._device_stack[-1:]
        self._function: Function | None = None
        self._op_def: Any = None
        self._stateful_ops: list = []

    @property
    def name(self):
        """The function's name in the graph."""
        return self._made().name

    @property
    def definition(self):
        """The FunctionDef message."""
        return self._made().definition

    @property
    def grad_func_name(self):
        """The name of the function that computes the gradient, or None."""
        return self._grad_func.name if self._grad_func else None

    @property
    def python_grad_func(self):
        """The Python function that adds the nodes of the gradient, or None."""
        return self._python_grad_func

    @property
    def declared_input_types(self):
        return self._types

    @property
    def captured_inputs(self):
        """The tensors outside that the function uses, which are its last arguments."""
        return [] if self._allowed is not None else self._made().captured_inputs

    @property
    def stateful_ops(self):
        """[(name, type)] of the nodes with state."""
        self._made()
        return self._stateful_ops

    @property
    def _signature(self):
        return self.definition.signature

    @classmethod
    def of_library(cls, function):
        """The function that a graph's library has."""
        signature = function.definition.signature
        types = [arg.type for arg in signature.input_arg]
        made = cls(None, [arg.name for arg in signature.input_arg], types, function.name)
        made._function = function
        made._out_names = [arg.name for arg in signature.output_arg]
        return made

    def set_grad_func(self, grad_func):
        """Says which function, made by Defun too, computes the gradient."""
        assert not self._grad_func
        assert isinstance(grad_func, DefinedFunction)
        self._grad_func = grad_func

    def add_to_graph(self, graph):
        """Makes the function known in a graph, with those that it calls and its gradient."""
        function = self._made()
        if self._grad_func:
            function.gradient_name = self._grad_func.name
            self._grad_func.add_to_graph(graph)
        function.add_to_graph(graph)

    def __call__(self, *args, **kwargs):
        """Adds a node that calls the function.

        Args:
          *args: the arguments.
          **kwargs: `name`, the node's; `noinline`; attributes of the node that begin with "experimental_".

        Returns the result, a tuple of them, or the operation if there is none.
        Raises ValueError for other arguments than the function has.
        """
        graph = get_default_graph()
        self.add_to_graph(graph)
        if self._op_def is None:
            self._op_def = call_op_def(self.definition, self._python_grad_func or gradient_of_call)
        inputs = [*map(convert_to_tensor, args), *self.captured_inputs]
        expected = self._op_def.inputs
        if len(inputs) != len(expected):
            raise ValueError(f"Expected number of arguments: {len(expected)}, received: {len(inputs)}")
        name = kwargs.pop("name", None) or self.name
        for index, (tensor, arg) in enumerate(zip(inputs, expected, strict=True)):
            if tensor.dtype.base_dtype is not arg.dtype:
                raise ValueError(
                    f"input {index} (zero-indexed) of function {self.name} is of type "
                    f"{tensor.dtype.base_dtype.name}, which is not {arg.dtype.name}"
                )
        op = graph._add_node(self._op_def, inputs, _attributes(kwargs), name)
        if self._shape_func is not None:
            self._set_shapes(op)
        if not op.outputs:
            return op
        return op.outputs[0] if len(op.outputs) == 1 else tuple(op.outputs)

    def _set_shapes(self, op):
        shapes = self._shape_func(op)
        if len(shapes) != len(op.outputs):
            raise ValueError(f"shape_func produced {len(shapes)} shapes for {len(op.outputs)} outputs")
        for tensor, shape in zip(op.outputs, shapes, strict=True):
            tensor.set_shape(shape)

    def _made(self):
        if self._function is None:
            base = self._name or getattr(self._func, "__name__", type(self._func).__name__)
            body = self._traced(base)
            if self._name is None and self._grad_func:
                base += f"_{self._grad_func.name}"
            attrs = _attributes(self._attrs, base)
            description = self._func.__doc__ or ""
            name = self._name
            if name is None:
                content = to_bytes(function_def_message(body, "", description, attrs, self._out_names))
                digest = hashlib.sha256(content).digest()[:8]
                name = f"{base}_{base64.b64encode(digest, b'aA').decode().rstrip('=')}"
            if self._out_names and len(self._out_names) > len(body.outputs):
                raise errors.make(
                    errors.INVALID_ARGUMENT,
                    f"output names must be either empty or equal in size to outputs. output names size = "
                    f"{len(self._out_names)} outputs size = {len(body.outputs)}",
                )
            self._stateful_ops = [(op.name, op.type) for op in body.get_operations() if op._op_def.is_stateful]
            self._function = Function(
                name, body.outer_graph, body=body, description=description, attrs=attrs, output_names=self._out_names
            )
        return self._function

    def _traced(self, name):
        if self._allowed is None:
            body = _Body(name, self._by_value)
        else:
            body = _CopyingBody(name, self._by_value, self._allowed)
        body._device_stack = list(self._devices)
        with body.as_default():
            for argument, dtype in zip(self._arg_names, self._types, strict=True):
                body.inputs.append(placeholder(dtype, name=argument))
            with variable_scope("", custom_getter=body.get_variable):
                results = self._func(*body.inputs)
            results = [] if results is None else results
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            if any(result is None for result in results):
                raise ValueError(f"Function {name} can not return None.")
            body.outputs = [body.capture(convert_to_tensor(result)) for result in results]
        numbers.end_function(body)
        return body


class OverloadedFunction:
    """A function whose types are those of its arguments when it is called; for each there is one."""

    def __init__(
        self, func, argnames, func_name=None, grad_func=None, python_grad_func=None, out_names=None, **kwargs
    ):  # fmt: skip
        assert grad_func is None or isinstance(grad_func, OverloadedFunction)
        self._func = func
        self._arg_names = argnames
        self._name = func_name
        self._grad_func = grad_func
        self._settings = {"python_grad_func": python_grad_func, "out_names": out_names, **kwargs}
        self._of_types: dict = {}

    def instantiate(self, input_types):
        """The DefinedFunction for a list of types. Raises ValueError for one that functions cannot have."""
        types = [dtypes.as_dtype(dtype).base_dtype for dtype in input_types]
        if any(dtype.name not in _SHORT for dtype in types):
            raise ValueError(f"Unsupported dtypes: {types}")
        key = "".join(_SHORT[dtype.name] for dtype in types)
        if key not in self._of_types:
            name = None if self._name is None else f"{self._name}_{key}"
            defined = DefinedFunction(self._func, self._arg_names, types, name, **self._settings)
            results = [dtypes.as_dtype(arg.type) for arg in defined._signature.output_arg]
            if self._grad_func:
                defined.set_grad_func(self._grad_func.instantiate([*types, *results]))
            self._of_types[key] = defined
        return self._of_types[key]

    def __call__(self, *args, **kwargs):
        """See DefinedFunction.__call__."""
        tensors = [convert_to_tensor(arg) for arg in args]
        return self.instantiate([tensor.dtype for tensor in tensors])(*tensors, **kwargs)


@public("python.framework.function.Defun")
class Defun:
    """Decorates a Python function of tensors, which becomes a function of the graph when it is called.

        @function.Defun(tf.float32, tf.float32)
        def difference(x, y):
            return x - y

    Args:
      *input_types: the types of the arguments; without them, one function is made for all types of a call.
      func_name: what the function is called; by default, the Python function's name and what says what is in it.
      grad_func: a function made by Defun, of the arguments and the results' gradients, that computes the arguments'.
      python_grad_func: a function of the calling operation and the gradients, as for tf.RegisterGradient.
      out_names: what the results are called.
      shape_func: a function of the calling operation that gives the results' shapes.
      capture_by_value: whether what is outside is copied into the function.
      whitelisted_stateful_ops: operations with state that may be copied.
      capture_resource_var_by_value: whether the function has a resource variable's value, not its handle.
    """

    def __init__(self, *input_types, **kwargs):
        self._input_types = input_types
        self._settings = kwargs

    def __call__(self, func):
        """Raises ValueError for what cannot be called, has keyword arguments, or not as many as there are types."""
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        spec = inspect.getfullargspec(func)
        if spec.varkw or spec.defaults or spec.kwonlyargs:
            raise ValueError(
                f"function with argument defaults or keywords arguments are not supported. {func} has defaults "
                f"{spec.defaults} and keywords {spec.varkw}."
            )
        names = spec.args[1:] if inspect.ismethod(func) else spec.args
        count = len(self._input_types)
        if count and (count < len(names) or (count > len(names) and not spec.varargs)):
            raise ValueError("The function has fewer arguments than the number of specified input types.")
        if count or not (names or spec.varargs):
            return DefinedFunction(func, names, self._input_types, **self._settings)
        return OverloadedFunction(func, names, **self._settings)


def _attributes(settings, base_name=""):
    """The attributes of a node or a definition. Raises ValueError for unknown ones."""
    attrs: dict = {}
    settings = dict(settings)
    noinline = settings.pop("noinline", None)
    if noinline is not None:
        attrs["_noinline"] = bool(noinline)
    # TensorFlow does not infer shapes through such calls.
    attrs["_disable_call_shape_inference"] = True
    compiled = settings.pop("compiled", None)
    separate_gradients = settings.pop("separate_compiled_gradients", None)
    if compiled is not None:
        scope = get_default_graph()._attr_scope.get("_XlaScope", f"function_{base_name}".encode())
        attrs.update(
            _XlaCompile=bool(compiled), _XlaSeparateCompiledGradients=bool(separate_gradients), _XlaScope=scope
        )
    for key in list(settings):
        if key.startswith("experimental_") or key in ("_implements", "_reference"):
            value = settings.pop(key)
            attrs[key] = value.encode() if isinstance(value, str) else value
    if settings:
        raise ValueError(f"Unknown keyword arguments: {settings.keys()}")
    return attrs


def _body():
    graph = get_default_graph()
    return graph if isinstance(graph, _Body) else None


@public("python.framework.function.get_extra_vars")
def get_extra_vars():
    """The variables that the function being made has asked for; [] outside of functions."""
    body = _body()
    return body.extra_vars if body else []


@public("python.framework.function.get_extra_inputs")
def get_extra_inputs():
    """The tensors outside that the function being made uses; [] outside of functions."""
    body = _body()
    return body.extra_inputs if body else []


@public("python.framework.function.get_extra_args")
def get_extra_args():
    """The arguments that stand for `get_extra_inputs()`; [] outside of functions."""
    body = _body()
    return body.extra_args if body else []

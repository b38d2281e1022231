"""FunctionSpec: how the arguments of a call belong to those of a Python function."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.graph import nest, shallow_nest
from stillflow.graph.operation import Tensor
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.platform import decorators
from stillflow.platform.argument_specs import getfullargspec


@public("python.eager.function.FunctionSpec")
class FunctionSpec:
    """The arguments of a Python function, and the specifications that callers must keep to.

    Args:
      fullargspec: an inspect.FullArgSpec.
      is_method: whether the first argument is bound already.
      args_to_prepend, kwargs_to_include: ignored, as in TensorFlow.
      input_signature: None, or a nested tuple or list of specifications.

    Raises:
      ValueError: for arguments by keyword only, together with a signature.
      TypeError: for a signature that is neither a tuple nor a list.
    """

    def __init__(self, fullargspec, is_method, args_to_prepend, kwargs_to_include, input_signature):
        self.fullargspec = fullargspec
        self.is_method = is_method
        self.arg_names = list(fullargspec.args[1:] if is_method else fullargspec.args)
        self.vararg_name = fullargspec.varargs
        self._positions = {name: i for i, name in enumerate(self.arg_names)}
        defaults = fullargspec.defaults or ()
        first = len(self.arg_names) - len(defaults)
        self._defaults = {first + i: value for i, value in enumerate(defaults)}
        self.input_signature: Any = None
        self.flat_input_signature: tuple = ()
        if input_signature is not None:
            if fullargspec.kwonlyargs:
                raise _keywords_with_signature()
            if not isinstance(input_signature, (tuple, list)):
                raise TypeError(
                    f"input_signature must be either a tuple or a list, received {type(input_signature)}"
                )  # fmt: skip
            self.input_signature = tuple(input_signature)
            self.flat_input_signature = tuple(nest.flatten(self.input_signature, expand_composites=True))

    @staticmethod
    def from_function_and_signature(python_function, input_signature):
        """The specification of a function, or of a functools.partial of one."""
        spec = getfullargspec(python_function)
        _, inner = decorators.unwrap(python_function)
        if isinstance(inner, functools.partial) and (spec.defaults or spec.kwonlydefaults):
            first = len(spec.args) - len(spec.defaults or ())
            pairs = [
                (name, i) for i, name in enumerate(spec.args) if name not in inner.keywords
            ]  # an argument that the partial has given is none anymore
            defaults = tuple(spec.defaults[i - first] for _, i in pairs if i >= first) if spec.defaults else None
            spec = spec._replace(
                args=[name for name, _ in pairs], defaults=defaults, kwonlyargs=[], kwonlydefaults={}
            )  # fmt: skip
        return FunctionSpec(spec, inspect.ismethod(inner), [], {}, input_signature)

    def canonicalize_function_inputs(self, *args, **kwargs):
        """(the positional arguments with defaults, and those given by name in their places; the other keywords).

        Arrays become tensors. With a signature everything becomes tensors, as it says.

        Raises:
          TypeError: for arguments that the function or its signature does not have.
          ValueError: for values that do not fit the signature.
        """
        if self.input_signature is not None:
            self._check_covered(args, kwargs)
        if not kwargs:
            inputs = args
            missing = sorted(self._defaults)
            if missing and missing[0] > len(args):
                raise AssertionError(f"Not enough arguments ({args}, {missing}, {self.arg_names})")
            inputs += tuple(self._defaults[i] for i in missing if i >= len(args))
        else:
            by_position = {i: value for i, value in self._defaults.items() if i >= len(args)}
            for name in [name for name in kwargs if name in self._positions]:
                by_position[self._positions[name]] = kwargs.pop(name)
            if kwargs and self.input_signature is not None:
                raise _keywords_with_signature()
            inputs = args + tuple(by_position[i] for i in sorted(by_position))
        if self.input_signature is None:
            return _arrays_as_tensors(inputs), _arrays_as_tensors(kwargs)
        return self._fitted(inputs), {}

    def _check_covered(self, args, kwargs):
        only = "When input_signature is provided, only pass arguments covered by it."
        if len(args) > len(self.input_signature):
            raise TypeError(f"{only} Received {len(args)} argument(s).")
        for name in kwargs:
            position = self._positions.get(name)
            if position is None:
                raise TypeError(f"Function got an unexpected keyword argument {name}")
            if position >= len(self.input_signature):
                raise TypeError(f"{only} Received argument {name}.")

    def _fitted(self, inputs):
        """The inputs as the signature has them."""
        signature = self.input_signature
        try:
            leaves = shallow_nest.flatten_up_to(signature, inputs[: len(signature)])
        except (ValueError, TypeError):
            raise ValueError(
                "Structure of Python function inputs does not match input_signature:\n" + self._shown(inputs)
            ) from None
        specs = nest.flatten(signature)
        leaves = [self._as_tensor(leaf, spec, inputs) for leaf, spec in zip(leaves, specs, strict=True)]
        if not all(map(_fits, specs, leaves)):
            raise ValueError("Python inputs incompatible with input_signature:\n" + self._shown(inputs))
        return tuple(nest.pack_sequence_as(signature, leaves))

    def _as_tensor(self, value, spec, inputs):
        if isinstance(value, (Tensor, TypeSpec)) or not isinstance(spec, TensorSpec):
            return value
        try:
            return convert_to_tensor(value, dtype_hint=spec.dtype)
        except ValueError:
            raise ValueError(
                "When input_signature is provided, all inputs to the Python function must be convertible to tensors:"
                "\n" + self._shown(inputs)
            ) from None

    def _shown(self, inputs):
        shown = [",\n    ".join(map(str, items)) for items in (inputs, self.input_signature)]
        return f"  inputs: (\n    {shown[0]})\n  input_signature: (\n    {shown[1]})"


def _fits(spec, value):
    try:
        return spec.is_compatible_with(value)
    except TypeError:
        return False


def _keywords_with_signature():
    return ValueError(
        "Cannot define a TensorFlow function from a Python function with keyword arguments when input_signature is "
        "provided."
    )


def _arrays_as_tensors(inputs):
    leaves = nest.flatten(inputs)
    if not any(type(leaf) is np.ndarray for leaf in leaves):
        return inputs
    converted = [ops.constant(leaf) if type(leaf) is np.ndarray else leaf for leaf in leaves]
    return nest.pack_sequence_as(inputs, converted)


@public("python.eager.function.validate_signature")
def validate_signature(signature):
    """Raises TypeError unless a signature is a structure of specifications of tensors."""
    if any(not isinstance(spec, TypeSpec) for spec in nest.flatten(signature, expand_composites=True)):
        raise TypeError(
            f"Invalid input_signature {signature}; input_signature must be a possibly nested sequence of TensorSpec "
            "objects."
        )

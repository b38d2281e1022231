"""Inputs of models that are not made of tensors: placeholders like the data that they are called with."""

from __future__ import annotations

import numpy as np

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes, nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.operation import Tensor
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.backend.values import placeholder
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ragged.composites import is_composite
from stillflow.variables.variable import Variable


def _wrong_kind(given):
    return ValueError(
        f"Please provide as model inputs either a single array or a list of arrays. You passed: inputs={given}"
    )


@by_mode
def _check_kinds(inputs, given):
    listed = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    if not all(isinstance(each, (np.ndarray, Tensor, Variable, CompositeTensor)) for each in listed):
        raise _wrong_kind(given)


@eager_version_of(_check_kinds)
def _check_kinds_of_values(inputs, given):
    """Lists and numbers become arrays; matrices of scipy do not."""
    if any(hasattr(each, "tocoo") for each in nest.flatten(inputs)):
        raise _wrong_kind(given)


def check_inputs(inputs, given):
    """Raises ValueError for data that do not show what a model's inputs are.

    Args:
      inputs: an array or a tensor, a list of some, or a dictionary.
      given: what they were taken from, for messages.
    """
    if not isinstance(inputs, dict):
        _check_kinds(inputs, given)
    listed = inputs.values() if isinstance(inputs, dict) else inputs
    for each in listed if isinstance(inputs, (list, tuple, dict)) else [inputs]:
        if is_composite(each):
            raise ValueError(
                "All SparseTensor and RaggedTensor inputs must be explicitly declared using a keras.Input() with "
                f"sparse=True or ragged=True. We found an undeclared input {each}. For Sequential models, please add "
                "a keras.Input() as your first Layer. For subclassed models, please call self._set_inputs() on your "
                "input set, which you can create using keras.Input() for each input to your model."
            )


def like(tensor):
    """What `ModelInputs` makes a placeholder of that is like a tensor."""
    return TensorSpec(tensor.shape, tensor.dtype)


@public("python.keras.engine.training_utils.ModelInputs")
class ModelInputs:
    """The inputs of a model that is not made of tensors.

    Args:
      inputs: an array or a tensor, a list of some, or a dictionary. What is like arrays becomes placeholders.
    """

    def __init__(self, inputs):
        self._is_dictionary = isinstance(inputs, dict)
        self._is_single = not isinstance(inputs, (list, tuple, dict))
        if self._is_dictionary:
            self._names = sorted(inputs)
            self._values = [inputs[name] for name in self._names]
        else:
            self._values = nest.flatten(inputs)
            self._names = [f"input_{index}" for index in range(1, len(self._values) + 1)]

    def get_input_names(self):
        """A list of the names: a dictionary's keys in order, or input_1, input_2, ..."""
        return self._names

    def get_symbolic_inputs(self, return_single_as_list=False):
        """The placeholders, and the tensors of a graph as they are, in the structure of what was given.

        Args:
          return_single_as_list: whether one alone is a list, too.
        """
        self._values = [_symbolic(*each) for each in zip(self._names, self._values, strict=True)]
        if self._is_dictionary:
            return dict(zip(self._names, self._values, strict=True))
        return self._values[0] if self._is_single and not return_single_as_list else self._values

    def as_dict(self):
        """Pairs of a name and an input."""
        yield from zip(self._names, self._values, strict=True)

    def as_list(self):
        """A list of the inputs."""
        return self._values


def _symbolic(name, value):
    """A placeholder for values like it; a tensor of a graph is returned as it is."""
    if isinstance(value, (list, float, int)):
        value = np.asarray(value)
        if value.ndim == 1:
            value = np.expand_dims(value, 1)
    if isinstance(value, TensorSpec):
        shape = (None, *value.shape.as_list()[1:])
        return placeholder(shape=(None, 1) if shape == (None,) else shape, name=name, dtype=value.dtype)
    if not isinstance(value, (np.ndarray, EagerTensor)):
        return value
    dtype = dtypes.as_dtype(value.dtype)
    shape = (None, *value.shape[1:])
    return placeholder(
        shape=(None, 1) if shape == (None,) else shape, name=name, dtype=floatx() if dtype.is_floating else dtype
    )

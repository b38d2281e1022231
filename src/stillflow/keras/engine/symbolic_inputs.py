"""Inputs of models that are not made of tensors: placeholders like the data that they are called with."""

from __future__ import annotations

import numpy as np

from stillflow.eager.tensor import EagerTensor
from stillflow.graph import dtypes, nest
from stillflow.graph.tensor_spec import TensorSpec
from stillflow.keras.backend.values import placeholder
from stillflow.layers.core.settings import floatx


def named_inputs(inputs):
    """[(name, value)] of an array, a list, or a dictionary."""
    if isinstance(inputs, dict):
        return [(name, inputs[name]) for name in sorted(inputs)]
    return [(f"input_{index}", value) for index, value in enumerate(nest.flatten(inputs), 1)]


def like(tensor):
    """What `symbolic` makes a placeholder of that is like a tensor."""
    return TensorSpec(tensor.shape, tensor.dtype)


def symbolic(name, value):
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

"""Times of predictions that go on where an evaluation has ended, and small parts of models."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.dense_layer import xw_plus_b
from stillflow.contrib.timeseries.feature_keys import FilteringResults
from stillflow.graph import dtypes
from stillflow.names import public_module
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros

public_module("contrib.timeseries.python.timeseries.model_utils")


def fully_connected(inp, inp_size, layer_size, name, activation=ops.relu, dtype=dtypes.float32):
    """A layer [batch, layer_size] of inputs [batch, inp_size]; `activation` may be None."""
    weights = get_variable(name=f"{name}_weight", shape=[inp_size, layer_size], dtype=dtype)
    biases = get_variable(name=f"{name}_bias", shape=[layer_size], initializer=Zeros())
    output = xw_plus_b(inp, weights, biases)
    return output if activation is None else activation(output)


def parameter_switch(parameter_overrides):
    """A function of a tensor to its value: that of {tensor: value}, or what it has in the default session."""

    def value_of(parameter):
        return convert_to_tensor(parameter_overrides.get(parameter, parameter)).eval()

    return value_of


def canonicalize_times_or_steps_from_output(times, steps, previous_model_output):
    """The times of predictions, [batch, steps].

    Args:
      times: the times, [steps] or [batch, steps]; they come after those of the evaluation.
      steps: how many steps, instead of times.
      previous_model_output: an evaluation, with its times.

    Raises ValueError for both or none, for another batch, and for times that are not after it.
    """
    if steps is not None and times is not None:
        raise ValueError("Only one of `steps` and `times` may be specified.")
    if steps is None and times is None:
        raise ValueError("One of `steps` and `times` must be specified.")
    before = previous_model_output[FilteringResults.TIMES]
    if steps is not None:
        return before[:, -1:] + 1 + np.arange(steps)[None, ...]
    times = np.array(times)
    if times.ndim != 2:
        times = times[None, ...]
    if before.shape[0] != times.shape[0]:
        raise ValueError(
            "`times` must have a batch dimension matching the previous model output (got a batch dimension of "
            f"{times.shape[0]} for `times` and {before.shape[0]} for the previous model output)."
        )
    if not (before[:, -1] < times[:, 0]).all():
        raise ValueError("Prediction times must be after the corresponding previous model output.")
    return times

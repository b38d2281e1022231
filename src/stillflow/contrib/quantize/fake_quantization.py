"""Rounding of tensors to few bits, within a range that variables hold: of the last batch, or averages of batches."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.training.moving_averages import assign_moving_average
from stillflow.variables.assignments import assign
from stillflow.variables.copies import VariableAggregation
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Constant
from stillflow.variables.scope import variable_scope

_DIMS_OF_CHANNELS = {2: [0], 4: [0, 1, 2]}


@public("contrib.quantize.python.quant_ops.FixedQuantize")
def fixed_quantize(inputs, init_min=-6.0, init_max=6.0, scope=None):
    """The inputs rounded to 8 bits between two numbers."""
    with name_scope(scope, "FixedQuantize", values=[inputs]):
        return ops.fake_quant_args(inputs, min=init_min, max=init_max)


@public("contrib.quantize.python.quant_ops.LastValueQuantize")
def last_value_quantize(
    inputs, per_channel=False, init_min=-6.0, init_max=6.0, vars_collection=None, name_prefix="LastValueQuant",
    reuse=None, is_training=True, num_bits=8, narrow_range=False, symmetric=False,
):  # fmt: skip
    """The inputs rounded to few bits within the range that they had in the last batch of training.

    Args:
      inputs: floats; of 1, 2 or 4 dimensions if `per_channel`.
      per_channel: whether each channel, the last dimension, has a range of its own.
      init_min, init_max: the range at first.
      vars_collection: a collection for the two variables besides the global ones.
      name_prefix: the scope of the variables.
      reuse: whether they are there.
      is_training: whether the range follows the inputs.
      num_bits: how many bits.
      narrow_range: whether there is a number less, so that as many are below as above the middle.
      symmetric: whether the range is as wide below 0 as above.
    """
    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        bounds = _bounds(scope, inputs, per_channel, init_min, init_max, vars_collection, name_prefix)
        if is_training:
            least, most = _range(inputs, per_channel, num_bits, narrow_range, symmetric)
            bounds = (
                assign(bounds[0], least, name="AssignMinLast"),
                assign(bounds[1], most, name="AssignMaxLast"),
            )
        return _rounded(inputs, *bounds, per_channel, num_bits, narrow_range)


@public("contrib.quantize.python.quant_ops.MovingAvgQuantize")
def moving_average_quantize(
    inputs, per_channel=False, init_min=-6.0, init_max=6.0, ema_decay=0.999,
    vars_collection=GraphKeys.MOVING_AVERAGE_VARIABLES, name_prefix="MovingAvgQuantize", reuse=None,
    is_training=True, num_bits=8, narrow_range=False, symmetric=False,
):  # fmt: skip
    """The inputs rounded to few bits within the average range of batches of training.

    Args:
      ema_decay: how much of the average stays with each batch.
      others: see last_value_quantize.
    """
    with variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        bounds = _bounds(scope, inputs, per_channel, init_min, init_max, vars_collection, name_prefix)
        if is_training:
            least, most = _range(inputs, per_channel, num_bits, narrow_range, symmetric)
            bounds = (
                assign_moving_average(bounds[0], least, ema_decay, name="AssignMinEma"),
                assign_moving_average(bounds[1], most, ema_decay, name="AssignMaxEma"),
            )
        return _rounded(inputs, *bounds, per_channel, num_bits, narrow_range)


def _bounds(scope, inputs, per_channel, init_min, init_max, collection, name_prefix) -> tuple[Any, Any]:
    """The two variables of a range, of which a partitioner makes no parts."""
    scope.set_partitioner(None)
    shape: list = []
    if per_channel:
        assert inputs.shape.ndims in (1, 2, 4), (
            f"Expected 1D, 2D or 4D input, was: {inputs.shape} in  scope: {name_prefix}"
        )
        shape = [inputs.shape[-1]]
    collections = [*([collection] if collection else []), GraphKeys.GLOBAL_VARIABLES]
    least, most = (
        get_variable(
            name,
            shape=shape,
            initializer=Constant(value),
            collections=collections,
            trainable=False,
            aggregation=VariableAggregation.MEAN,
        )
        for name, value in (("min", init_min), ("max", init_max))
    )
    return least, most


def _range(inputs, per_channel, num_bits, narrow_range, symmetric):
    """The least and the largest input, 0 between them."""
    if per_channel and inputs.shape.ndims == 1:
        least = most = inputs
    else:
        dims = _DIMS_OF_CHANNELS[inputs.shape.ndims] if per_channel else None
        least = ops.reduce_min(inputs, axis=dims, name="BatchMin")
        most = ops.reduce_max(inputs, axis=dims, name="BatchMax")
    if not symmetric:
        return ops.minimum(least, 0.0), ops.maximum(most, 0.0)
    count = 1 << num_bits
    ratio = -1 if narrow_range else -(count - 2) / count
    return ops.minimum(least, most / ratio), ops.maximum(most, least * ratio)


def _rounded(inputs, least, most, per_channel, num_bits, narrow_range):
    function = ops.fake_quant_channels if per_channel else ops.fake_quant_vars
    return function(inputs, least, most, num_bits=num_bits, narrow_range=narrow_range)

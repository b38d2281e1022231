"""Elements of a batch repeated at random: tf.contrib.training.resample_at_rate and weighted_resample."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.distributions import random_poisson
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.moving_averages import assign_moving_average
from stillflow.variables.get_variable import get_local_variable
from stillflow.variables.scope import variable_scope


@public("contrib.training.python.training.resample._repeat_range")
def _repeat_range(counts):
    """0, 1, 2, ..., each as often as `counts` says."""
    with name_scope(None, "repeat_range", [counts]) as scope:
        counts = convert_to_tensor(counts, name="counts")
        size = ops.shape(counts)[0]

        def body(output, i):
            value = ops.fill(counts[i : i + 1], i)
            return output.write(i, value), i + 1

        first = TensorArray(dtype=dtypes.int32, size=size, infer_shape=False)
        found, written = while_loop(lambda _, i: i < size, body, loop_vars=[first, 0])
        return cond(written > 0, found.concat, lambda: ops.zeros(shape=[0], dtype=dtypes.int32), name=scope)


@public("contrib.training.resample_at_rate")
def resample_at_rate(inputs, rates, scope=None, seed=None, back_prop=False):
    """Elements as often as Poisson random numbers say.

    Args:
      inputs: a list of tensors of one first dimension.
      rates: how often each element comes on the average, floats, of that size.
      scope: of the nodes.
      seed: of the random numbers.
      back_prop: whether gradients flow through the choice.

    Returns:
      A list of tensors of another first dimension.
    """
    with name_scope(scope, default_name="resample_at_rate", values=[*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = ops.cast(random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        indices = _repeat_range(counts)
        if not back_prop:
            indices = ops.stop_gradient(indices)
        return [ops.gather(each, indices) for each in inputs]


@public("contrib.training.weighted_resample")
def weighted_resample(inputs, weights, overall_rate, scope=None, mean_decay=0.999, seed=None):
    """Elements repeated by their weights, relative to a moving average of weights.

    Args:
      inputs: a list of tensors of one first dimension.
      weights: floats of that size.
      overall_rate: how often an element comes on the average.
      scope: of the nodes.
      mean_decay: of the moving average.
      seed: of the random numbers.

    Returns:
      (a list of tensors of another first dimension, the rate of each element in them).
    """
    with name_scope(scope, "weighted_resample", inputs) as opscope:
        with variable_scope(scope, "estimate_mean", inputs):
            average = get_local_variable(
                "estimated_mean", initializer=ops.cast(0, weights.dtype), dtype=weights.dtype
            )
            mean = assign_moving_average(average, ops.reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        rates, *found = resample_at_rate([rates, *inputs], rates, scope=opscope, seed=seed, back_prop=False)
        return found, rates

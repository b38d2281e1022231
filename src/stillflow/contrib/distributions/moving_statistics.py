"""Moving averages of means and variances, in variables."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.statistics import reduce_logsumexp
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope


def _floating(of, name):
    """The type of a variable or tensor. Raises TypeError if it is not of floats."""
    dtype = of.dtype.base_dtype
    if not dtype.is_floating:
        raise TypeError(f"{name}.base_dtype({dtype.name}) does not have float type `dtype`.")
    return dtype


@public("contrib.distributions.assign_moving_mean_variance")
def assign_moving_mean_variance(mean_var, variance_var, value, decay, name=None):
    """Moves a mean and a variance towards a value and its squared distance.

    T. Finch, "Incremental calculation of weighted mean and variance", 2009.

    Args:
      mean_var, variance_var: variables of floats.
      value: a tensor of their shape.
      decay: how much of the old remains, near 1.
      name: a name of the operations.

    Returns: the mean and the variance after it.
    Raises TypeError for variables that are not of floats, or of two types.
    """
    scope = name_scope(name, "assign_moving_mean_variance", [variance_var, mean_var, value, decay])
    with scope, colocate_with(variance_var), colocate_with(mean_var):
        dtype = _floating(mean_var, "mean_var")
        if dtype != variance_var.dtype.base_dtype:
            other = variance_var.dtype.base_dtype.name
            raise TypeError(f"mean_var.base_dtype({dtype.name}) != variance_var.base_dtype({other})")
        value = convert_to_tensor(value, dtype=dtype, name="value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = value - mean_var
        with control_dependencies([delta]):
            mean_var = ops.assign_add(mean_var, (1.0 - decay) * delta)
            change = (1.0 - decay) * (variance_var - decay * ops.square(delta))
            variance_var = ops.assign_sub(variance_var, change)
        return mean_var, variance_var


@public("contrib.distributions.assign_log_moving_mean_exp")
def assign_log_moving_mean_exp(log_mean_exp_var, log_value, decay, name=None):
    """Moves the logarithm of a mean towards that of a value, which may be too large or small for a number.

    Args:
      log_mean_exp_var: a variable of floats.
      log_value: the logarithm of the value.
      decay: how much of the old remains, near 1.
      name: a name of the operations.

    Returns: the variable after it. Raises TypeError for one that is not of floats.
    """
    scope = name_scope(name, "assign_log_moving_mean_exp", [log_mean_exp_var, log_value, decay])
    with scope, colocate_with(log_mean_exp_var):
        dtype = _floating(log_mean_exp_var, "log_mean_exp_var")
        log_value = convert_to_tensor(log_value, dtype=dtype, name="log_value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        delta = (log_value - log_mean_exp_var)[None, ...]
        parts = [ops.log(decay) * ops.ones_like(delta), delta + ops.log1p(-decay)]
        return log_mean_exp_var.assign_add(reduce_logsumexp(ops.concat(parts, axis=0), axis=0))


@public("contrib.distributions.moving_mean_variance")
def moving_mean_variance(value, decay, collections=None, name=None):
    """The moving mean and variance of a value, in variables of their own: see assign_moving_mean_variance.

    Args:
      value: a tensor of floats of a known shape.
      decay: how much of the old remains, near 1.
      collections: of the variables; by default the global ones.
      name: a name of the variables' scope.

    Returns: the mean and the variance, after they were moved. Raises TypeError for another type.
    """
    collections = [GraphKeys.GLOBAL_VARIABLES] if collections is None else collections
    with variable_scope(name, "moving_mean_variance", [value, decay]):
        value = convert_to_tensor(value, name="value")
        dtype = _floating(value, "value")
        decay = convert_to_tensor(decay, dtype=dtype, name="decay")
        variance, mean = (
            get_variable(
                which,
                shape=value.shape,
                dtype=value.dtype,
                initializer=Zeros(),
                trainable=False,
                collections=collections,
            )
            for which in ("moving_variance", "moving_mean")
        )
        return assign_moving_mean_variance(mean, variance, value, decay)

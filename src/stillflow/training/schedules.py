"""Learning rates that depend on the number of steps."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * decay_rate ** (global_step / decay_steps), a scalar tensor.

    Args:
      learning_rate: the rate to begin with, a number or a scalar tensor, whose type is the result's.
      global_step: the number of steps so far.
      decay_steps, decay_rate: after so many steps the rate is so many times what it was.
      staircase: whether it falls only at every `decay_steps`.

    Raises:
      ValueError: without a `global_step`.
    """
    _check_step(global_step, "exponential_decay")
    with name_scope(None, name or "ExponentialDecay") as scope:
        rate, dtype = _initial(learning_rate)
        steps, factor = ops.cast(decay_steps, dtype), ops.cast(decay_rate, dtype)
        fraction = _periods(global_step, steps, staircase, dtype)
        return ops.mul(rate, ops.pow(factor, fraction), name=scope)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * exp(-decay_rate * global_step / decay_steps), a scalar tensor; see exponential_decay."""
    _check_step(global_step, "natural_exp_decay")
    factor = ops.exp(ops.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate / (1 + decay_rate * global_step / decay_steps), a scalar tensor; see exponential_decay."""
    _check_step(global_step, "inverse_time_decay")
    with name_scope(None, name or "InverseTimeDecay") as scope:
        rate, dtype = _initial(learning_rate)
        steps, factor = ops.cast(decay_steps, dtype), ops.cast(decay_rate, dtype)
        fraction = _periods(global_step, steps, staircase, dtype)
        one = ops.cast(ops.constant(1), dtype)
        return ops.divide(rate, ops.add(one, ops.mul(factor, fraction)), name=scope)


def polynomial_decay(
    learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0, cycle=False, name=None
):
    """From `learning_rate` to `end_learning_rate` in `decay_steps` steps, a scalar tensor:

        (learning_rate - end_learning_rate) * (1 - global_step / decay_steps) ** power + end_learning_rate

    With `cycle` it begins again, for as many steps as it takes to get beyond `global_step`. Raises ValueError
    without a `global_step`.
    """
    _check_step(global_step, "polynomial_decay")
    with name_scope(None, name or "PolynomialDecay") as scope:
        rate, dtype = _initial(learning_rate)
        end_rate, power = ops.cast(end_learning_rate, dtype), ops.cast(power, dtype)
        step, steps = ops.cast(global_step, dtype), ops.cast(decay_steps, dtype)
        if cycle:
            periods = ops.where(ops.equal(step, 0), ops.ones([], dtype), ops.ceil(step / decay_steps))
            steps = ops.mul(steps, periods)
        else:
            step = ops.minimum(step, decay_steps)
        fraction = ops.divide(step, steps)
        return ops.add(ops.mul(rate - end_rate, ops.pow(1 - fraction, power)), end_rate, name=scope)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """From `learning_rate` to `alpha` times that in `decay_steps` steps, along half a wave of the cosine.

    See Loshchilov and Hutter, "SGDR: stochastic gradient descent with warm restarts", ICLR 2017. Raises ValueError
    without a `global_step`.
    """
    _check_step(global_step, "cosine_decay")
    with name_scope(None, name or "CosineDecay"):
        rate, dtype = _initial(learning_rate)
        steps = ops.cast(decay_steps, dtype)
        fraction = ops.minimum(ops.cast(global_step, dtype), steps) / steps
        wave = 0.5 * (1.0 + ops.cos(ops.constant(math.pi) * fraction))
        return ops.mul(rate, (1 - alpha) * wave + alpha)


def _check_step(global_step, name):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")


def _initial(learning_rate):
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    return rate, rate.dtype.base_dtype


def _periods(global_step, decay_steps, staircase, dtype):
    periods = ops.cast(global_step, dtype) / decay_steps
    return ops.floor(periods) if staircase else periods

"""Learning rates that depend on the number of steps.

In eager execution these functions return functions without arguments, which compute the rate of the moment.
"""

from __future__ import annotations

import functools
import itertools
import math

from stillflow import ops
from stillflow.composites.case import case
from stillflow.graph import dtypes
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.names import public, public_module
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_n_to_tensor, convert_to_tensor
from stillflow.random.sampling import random_normal

public_module("python.training.learning_rate_decay")


def _computed_anew(rate):
    """What in eager execution returns a function that computes the rate whenever it is called."""

    @eager_version_of(rate)
    def rate_of_the_moment(*args, **kwargs):
        return functools.partial(rate, *args, **kwargs)

    return by_mode(rate)


@public("train.exponential_decay")
@_computed_anew
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


@public("train.natural_exp_decay")
def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate * exp(-decay_rate * global_step / decay_steps), a scalar tensor; see exponential_decay."""
    _check_step(global_step, "natural_exp_decay")
    factor = ops.exp(ops.negative(decay_rate))
    return exponential_decay(learning_rate, global_step, decay_steps, factor, staircase, name)


@public("train.inverse_time_decay")
@_computed_anew
def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False, name=None):
    """learning_rate / (1 + decay_rate * global_step / decay_steps), a scalar tensor; see exponential_decay."""
    _check_step(global_step, "inverse_time_decay")
    with name_scope(None, name or "InverseTimeDecay") as scope:
        rate, dtype = _initial(learning_rate)
        steps, factor = ops.cast(decay_steps, dtype), ops.cast(decay_rate, dtype)
        fraction = _periods(global_step, steps, staircase, dtype)
        one = ops.cast(ops.constant(1), dtype)
        return ops.divide(rate, ops.add(one, ops.mul(factor, fraction)), name=scope)


@public("train.polynomial_decay")
@_computed_anew
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
            periods = cond(ops.equal(step, 0), lambda: 1.0, lambda: ops.ceil(step / decay_steps))
            steps = ops.mul(steps, periods)
        else:
            step = ops.minimum(step, decay_steps)
        fraction = ops.divide(step, steps)
        return ops.add(ops.mul(rate - end_rate, ops.pow(1 - fraction, power)), end_rate, name=scope)


@public("train.cosine_decay")
@_computed_anew
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


@public("train.cosine_decay_restarts")
@_computed_anew
def cosine_decay_restarts(learning_rate, global_step, first_decay_steps, t_mul=2.0, m_mul=1.0, alpha=0.0, name=None):
    """Like cosine_decay, again and again: each time for `t_mul` times as many steps, from `m_mul` times the rate."""
    _check_step(global_step, "cosine decay restarts")
    with name_scope(None, name or "SGDRDecay") as scope:
        rate, dtype = _initial(learning_rate)
        first_steps = ops.cast(first_decay_steps, dtype)
        alpha, growth, shrinkage = (ops.cast(value, dtype) for value in (alpha, t_mul, m_mul))
        fraction = ops.cast(global_step, dtype) / first_steps

        def equal_periods():
            restarts = ops.floor(fraction)
            return restarts, fraction - restarts

        def growing_periods():
            restarts = ops.floor(ops.log(1.0 - fraction * (1.0 - growth)) / ops.log(growth))
            before = (1.0 - growth**restarts) / (1.0 - growth)
            return restarts, (fraction - before) / growth**restarts

        restarts, fraction = cond(ops.equal(growth, 1.0), equal_periods, growing_periods)
        height = shrinkage**restarts
        wave = 0.5 * height * (1.0 + ops.cos(ops.constant(math.pi) * fraction))
        return ops.mul(rate, (1 - alpha) * wave + alpha, name=scope)


@public("train.linear_cosine_decay")
@_computed_anew
def linear_cosine_decay(learning_rate, global_step, decay_steps, num_periods=0.5, alpha=0.0, beta=0.001, name=None):
    """learning_rate * ((alpha + line) * wave + beta), a scalar tensor.

    The line falls from 1 to 0 in `decay_steps` steps, the wave is the cosine's, `num_periods` of them, between 1 and
    0. See Bello and others, "Neural optimizer search with reinforcement learning", ICML 2017. Raises ValueError
    without a `global_step`.
    """
    _check_step(global_step, "linear cosine decay")
    with name_scope(None, name or "LinearCosineDecay") as scope:
        rate, dtype = _initial(learning_rate)
        steps, periods, alpha, beta = (ops.cast(v, dtype) for v in (decay_steps, num_periods, alpha, beta))
        step = ops.minimum(ops.cast(global_step, dtype), steps)
        line = (steps - step) / steps
        wave = _wave(step / steps, periods)
        return ops.mul(rate, (alpha + line) * wave + beta, name=scope)


@public("train.noisy_linear_cosine_decay")
@_computed_anew
def noisy_linear_cosine_decay(
    learning_rate, global_step, decay_steps, initial_variance=1.0, variance_decay=0.55, num_periods=0.5, alpha=0.0,
    beta=0.001, name=None,
):  # fmt: skip
    """Like linear_cosine_decay with normal noise on the line, of variance initial_variance / (1 + step) ** decay."""
    _check_step(global_step, "noisy linear cosine decay")
    with name_scope(None, name or "NoisyLinearCosineDecay") as scope:
        rate, dtype = _initial(learning_rate)
        steps, first_variance, decay = (ops.cast(v, dtype) for v in (decay_steps, initial_variance, variance_decay))
        periods, alpha, beta = (ops.cast(value, dtype) for value in (num_periods, alpha, beta))
        step = ops.minimum(ops.cast(global_step, dtype), steps)
        line = (steps - step) / steps
        deviation = ops.sqrt(first_variance / ops.pow(1.0 + step, decay))
        line = line + random_normal(line.shape, stddev=deviation)
        wave = _wave(step / steps, periods)
        return ops.mul(rate, (alpha + line) * wave + beta, name=scope)


def _wave(fraction, periods):
    """So many periods of the cosine, between 1 and 0."""
    angle = 2.0 * periods * fraction
    return 0.5 * (1.0 + ops.cos(ops.constant(math.pi) * angle))


@public("train.piecewise_constant", "train.piecewise_constant_decay")
def piecewise_constant(x, boundaries, values, name=None):
    """values[i] for the i that `x` lies at, a scalar tensor: the number of boundaries below it.

    Args:
      x: a number of steps, or any numeric scalar.
      boundaries: numbers or tensors of the type of `x`, each larger than the one before.
      values: one more than boundaries, all of one type.

    Raises:
      ValueError: for numbers of boundaries and values, and for types, that do not fit.
    """
    boundaries, values = convert_n_to_tensor(boundaries), convert_n_to_tensor(values)
    step_type = convert_to_tensor(x).dtype.base_dtype
    for i, boundary in enumerate(boundaries):
        found = boundary.dtype.base_dtype
        if found is not step_type:
            if found is not dtypes.int32 or step_type is not dtypes.int64:
                raise ValueError(f"Boundaries ({found}) must have the same dtype as x ({step_type}).")
            boundaries[i] = ops.cast(boundary, step_type)
    for value in values[1:]:
        if value.dtype.base_dtype is not values[0].dtype.base_dtype:
            raise ValueError(
                "Values must have elements all with the same dtype "
                f"({values[0].dtype.base_dtype} vs {value.dtype.base_dtype})."
            )
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")
    return _value_between(x, boundaries, values, name)


@_computed_anew
def _value_between(x, boundaries, values, name):
    with name_scope(None, name or "PiecewiseConstant"):
        x = convert_to_tensor(x)

        def value_of(index):
            return lambda: values[index]

        cases = [(x <= boundaries[0], value_of(0)), (x > boundaries[-1], value_of(-1))]
        for i, (low, high) in enumerate(itertools.pairwise(boundaries)):
            cases.append(((x > low) & (x <= high), value_of(i + 1)))
        return case(cases, value_of(0), exclusive=True)


def _check_step(global_step, name):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")


def _initial(learning_rate):
    rate = convert_to_tensor(learning_rate, name="initial_learning_rate")
    return rate, rate.dtype.base_dtype


def _periods(global_step, decay_steps, staircase, dtype):
    periods = ops.cast(global_step, dtype) / decay_steps
    return ops.floor(periods) if staircase else periods

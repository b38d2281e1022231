"""Functions of the global step that fall from 1 to 0, for PowerSignOptimizer and AddSignOptimizer."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.names import public_module

public_module("contrib.opt.python.training.sign_decay")


def get_linear_decay_fn(decay_steps):
    """A function of the global step: max(0, (decay_steps - global_step) / decay_steps)."""

    def linear_decay_fn(global_step):
        step = ops.minimum(_required(global_step, "linear_decay"), decay_steps)
        remaining = ops.cast(decay_steps, dtypes.int32) - ops.cast(step, dtypes.int32)
        return ops.maximum(0.0, ops.cast(remaining, dtypes.float32) / ops.cast(decay_steps, dtypes.float32))

    return linear_decay_fn


def get_cosine_decay_fn(decay_steps, num_periods=0.5, zero_after=None):
    """A function of the global step: (1 + cos(2 pi * num_periods * global_step / decay_steps)) / 2.

    It stays at its value at `decay_steps`, and at zero after `zero_after` periods if that is not None.
    """

    def cosine_decay_fn(global_step):
        step = ops.minimum(_required(global_step, "cosine_decay"), decay_steps)
        completed = ops.cast(step, dtypes.float32) / ops.cast(decay_steps, dtypes.float32)
        fraction = 2.0 * num_periods * completed
        decayed = _half_cosine(fraction)
        if zero_after is None:
            return decayed
        return ops.where(ops.greater_equal(fraction, 2 * zero_after), 0.0, decayed)

    return cosine_decay_fn


def get_restart_decay_fn(decay_steps, num_periods=1, zero_after=None):
    """A function of the global step: half a cosine, from 1 to 0, `num_periods` times in `decay_steps`.

    It stays at zero after `zero_after` periods if that is not None.
    """

    def restart_decay_fn(global_step):
        step = ops.minimum(_required(global_step, "cosine_decay"), decay_steps)
        position = ops.floor_mod(num_periods * ops.cast(step, dtypes.float32), decay_steps)
        decayed = _half_cosine(position / ops.cast(decay_steps, dtypes.float32))
        if zero_after is None:
            return decayed
        periods = ops.cast(num_periods * step, dtypes.float32) / ops.cast(decay_steps, dtypes.float32)
        return ops.where(ops.greater_equal(periods, zero_after), 0.0, decayed)

    return restart_decay_fn


def _half_cosine(fraction):
    return 0.5 * (1.0 + ops.cos(ops.constant(math.pi) * fraction))


def _required(global_step, name):
    if global_step is None:
        raise ValueError(f"global_step is required for {name}.")
    return global_step

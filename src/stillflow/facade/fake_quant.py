"""tf.*: numbers as they are after they were kept in a few bits, and how gradients go through that."""

from __future__ import annotations

from stillflow import ops

__all__ = [
    "fake_quant_with_min_max_args",
    "fake_quant_with_min_max_args_gradient",
    "fake_quant_with_min_max_vars",
    "fake_quant_with_min_max_vars_gradient",
    "fake_quant_with_min_max_vars_per_channel",
    "fake_quant_with_min_max_vars_per_channel_gradient",
]


def fake_quant_with_min_max_args(inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None):
    """The nearest of the numbers that `num_bits` bits can tell apart.

    Args:
      inputs: float32.
      min, max: the least and the largest, moved such that zero is one of the numbers; min < max.
      num_bits: from 2 to 16.
      narrow_range: whether there is one number less.

    Returns:
      float32, of the shape of `inputs`.

    Raises:
      At run time tf.errors.InvalidArgumentError for other bounds or bits.
    """
    return ops.fake_quant_args(inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_args_gradient(
    gradients, inputs, min=-6, max=6, num_bits=8, narrow_range=False, name=None
):
    """The gradients where `inputs` are between the bounds, else 0; see fake_quant_with_min_max_args."""
    return ops.fake_quant_args_gradient(
        gradients, inputs, min=min, max=max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """fake_quant_with_min_max_args with bounds that are float32 scalars; 0 for both makes all numbers 0."""
    return ops.fake_quant_vars(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_gradient(gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """Gradients of the numbers, and of both bounds: the sums of the gradients of what lies beyond them."""
    return ops.fake_quant_vars_gradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )


def fake_quant_with_min_max_vars_per_channel(inputs, min, max, num_bits=8, narrow_range=False, name=None):
    """fake_quant_with_min_max_vars with bounds for each channel, the last dimension: float32 vectors."""
    return ops.fake_quant_channels(inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name)


def fake_quant_with_min_max_vars_per_channel_gradient(
    gradients, inputs, min, max, num_bits=8, narrow_range=False, name=None
):
    """fake_quant_with_min_max_vars_gradient for each channel."""
    return ops.fake_quant_channels_gradient(
        gradients, inputs, min, max, num_bits=num_bits, narrow_range=narrow_range, name=name
    )

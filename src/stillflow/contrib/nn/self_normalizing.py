"""alpha_dropout: dropout that keeps mean and variance, for networks of selu (Klambauer et al., 1706.02515)."""

from __future__ import annotations

import numbers

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform

# What selu(x) tends to for small x: -scale * alpha.
_SATURATION = -1.7580993408473766


@public("contrib.nn.alpha_dropout", "contrib.nn.python.ops.alpha_dropout.alpha_dropout")
def alpha_dropout(x, keep_prob, noise_shape=None, seed=None, name=None):
    """x with random elements set to what selu saturates to, then scaled and shifted to the mean and variance of x.

    Args:
      x: a floating-point tensor.
      keep_prob: the share of elements to keep, a number or a scalar.
      noise_shape: the shape of what is decided at random, which is broadcast; by default that of x.
      seed: of the random numbers.
      name: the name scope.

    Raises:
      ValueError: for a share that is not above 0 and at most 1.
    """
    with name_scope(name, "alpha_dropout", [x]) as name:
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1.0:
            raise ValueError(f"keep_prob must be a scalar tensor or a float in the range (0, 1], got {keep_prob:g}")
        keep_prob = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep_prob.shape.assert_has_rank(0)
        if constant_value(keep_prob) == 1:
            return x
        noise_shape = ops.shape(x) if noise_shape is None else noise_shape
        noise = random_uniform(noise_shape, seed=seed, dtype=x.dtype)
        is_kept = ops.cast(ops.greater_equal(noise, 1 - keep_prob), x.dtype)
        x = x * is_kept + _SATURATION * (1 - is_kept)
        a = (keep_prob + keep_prob * (1 - keep_prob) * _SATURATION**2) ** -0.5
        b = -a * _SATURATION * (1 - keep_prob)
        return a * x + b

"""dropout: random elements set to 0, the others scaled by 1 / keep_prob."""

from __future__ import annotations

import itertools
import logging
import numbers

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor
from stillflow.random.sampling import random_uniform


def dropout_at_rate(x, rate, noise_shape=None, seed=None, name=None):
    """Elements of x divided by 1 - rate, but a share of `rate` of them 0; see `dropout`."""
    with name_scope(name, "dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError(
                f"x has to be a floating point tensor since it's going to be scaled. Got a {x.dtype} tensor instead."
            )
        if isinstance(rate, numbers.Real):
            share = float(rate)
            if not 0 <= share < 1:
                raise ValueError(f"rate must be a scalar tensor or a float in the range [0, 1), got {share:g}")
            if share > 0.5:
                _warn_of_large_rate(share)
            if share == 0:
                return x
        rate = convert_to_tensor(rate, dtype=x.dtype, name="rate")
        rate.shape.assert_has_rank(0)
        if constant_value(rate) == 0:
            return x
        noise = random_uniform(_noise_shape(x, noise_shape), seed=seed, dtype=x.dtype)
        keep = 1 - rate
        scale = 1 / keep
        is_kept = noise >= rate
        result = x * scale * ops.cast(is_kept, x.dtype)
        result.set_shape(x.shape)
        return result


# How often it is said that a rate is large.
_MOST_WARNINGS = 5
_warnings = itertools.count()


def _warn_of_large_rate(rate):
    if next(_warnings) < _MOST_WARNINGS:
        logging.getLogger("tensorflow").warning(
            "Large dropout rate: %g (>0.5). In TensorFlow 2.x, dropout() uses dropout rate instead of keep_prob. "
            "Please ensure that this is intended.",
            rate,
        )


def _noise_shape(x, noise_shape):
    """The shape of what is decided at random; sizes that are not said are those of x."""
    if noise_shape is None:
        return ops.shape(x)
    try:
        given = as_shape(noise_shape).as_list()
    except (TypeError, ValueError):
        return noise_shape
    if x._dims is None or len(x._dims) != len(given):
        return noise_shape
    return TensorShape([size if wanted is None else wanted for wanted, size in zip(given, x._dims, strict=True)])


@public("nn.dropout")
def dropout(x, keep_prob=None, noise_shape=None, seed=None, name=None, rate=None):
    """Random elements of x set to 0, and the others divided by 1 - rate.

    Args:
      x: a floating-point tensor.
      keep_prob: 1 - rate, the older way to say it.
      noise_shape: the shape of what is decided at random, which is broadcast to that of x; by default that of x.
      seed: an integer; with it or a graph-level seed the choice is the same in every session.
      rate: a number or scalar in [0, 1), the share of elements to drop.

    Raises:
      ValueError: if neither or both of `rate` and `keep_prob` are given, the rate is out of range, or x is not of a
        floating-point type.
    """
    try:
        drop_rate = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise ValueError(f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})") from None
    rate = renamed("rate", rate, "keep_prob", drop_rate)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    return dropout_at_rate(x, rate, noise_shape, seed, name)

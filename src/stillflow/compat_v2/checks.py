"""Assertions, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.names import public


@public("compat.v2.assert_equal", "compat.v2.debugging.assert_equal")
def assert_equal(x, y, message=None, summarize=None, name=None):
    """tf.debugging.assert_equal."""
    return tf.debugging.assert_equal(x=x, y=y, message=message, summarize=summarize, name=name)


@public("compat.v2.assert_greater", "compat.v2.debugging.assert_greater")
def assert_greater(x, y, message=None, summarize=None, name=None):
    """tf.debugging.assert_greater."""
    return tf.debugging.assert_greater(x=x, y=y, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_greater_equal")
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """tf.debugging.assert_greater_equal."""
    return tf.debugging.assert_greater_equal(x=x, y=y, message=message, summarize=summarize, name=name)


@public("compat.v2.assert_less", "compat.v2.debugging.assert_less")
def assert_less(x, y, message=None, summarize=None, name=None):
    """tf.debugging.assert_less."""
    return tf.debugging.assert_less(x=x, y=y, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_less_equal")
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """tf.debugging.assert_less_equal."""
    return tf.debugging.assert_less_equal(x=x, y=y, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_none_equal")
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """tf.debugging.assert_none_equal."""
    return tf.debugging.assert_none_equal(x=x, y=y, summarize=summarize, message=message, name=name)


@public("compat.v2.debugging.assert_near")
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """tf.debugging.assert_near."""
    return tf.debugging.assert_near(x=x, y=y, rtol=rtol, atol=atol, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_negative")
def assert_negative(x, message=None, summarize=None, name=None):
    """tf.debugging.assert_negative."""
    return tf.debugging.assert_negative(x=x, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None):
    """tf.debugging.assert_non_negative."""
    return tf.debugging.assert_non_negative(x=x, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None):
    """tf.debugging.assert_non_positive."""
    return tf.debugging.assert_non_positive(x=x, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_positive")
def assert_positive(x, message=None, summarize=None, name=None):
    """tf.debugging.assert_positive."""
    return tf.debugging.assert_positive(x=x, message=message, summarize=summarize, name=name)


@public("compat.v2.debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """tf.debugging.assert_integer."""
    return tf.debugging.assert_integer(x=x, message=message, name=name)


@public("compat.v2.assert_rank", "compat.v2.debugging.assert_rank")
def assert_rank(x, rank, message=None, name=None):
    """tf.debugging.assert_rank."""
    return tf.debugging.assert_rank(x=x, rank=rank, message=message, name=name)


@public("compat.v2.debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None):
    """tf.debugging.assert_rank_at_least."""
    return tf.debugging.assert_rank_at_least(x=x, rank=rank, message=message, name=name)


@public("compat.v2.debugging.assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None):
    """tf.debugging.assert_rank_in."""
    return tf.debugging.assert_rank_in(x=x, ranks=ranks, message=message, name=name)


@public("compat.v2.debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None):
    """tf.debugging.assert_scalar."""
    return tf.debugging.assert_scalar(tensor=tensor, message=message, name=name)


@public("compat.v2.debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """tf.debugging.assert_type."""
    return tf.debugging.assert_type(tensor=tensor, tf_type=tf_type, message=message, name=name)


@public("compat.v2.debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """tf.debugging.assert_shapes."""
    return tf.debugging.assert_shapes(shapes=shapes, data=data, summarize=summarize, message=message, name=name)


@public("compat.v2.debugging.assert_all_finite")
def assert_all_finite(x, message, name=None):
    """tf.debugging.assert_all_finite."""
    return tf.debugging.assert_all_finite(x=x, message=message, name=name)

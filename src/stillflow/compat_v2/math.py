"""Arithmetic and reductions, as TensorFlow 2 spells them."""

from __future__ import annotations

import stillflow as tf
from stillflow.graph import dtypes
from stillflow.names import public


@public("compat.v2.argmax", "compat.v2.math.argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):
    """tf.argmax."""
    return tf.argmax(input=input, axis=axis, output_type=output_type, name=name)


@public("compat.v2.argmin", "compat.v2.math.argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):
    """tf.argmin."""
    return tf.argmin(input=input, axis=axis, output_type=output_type, name=name)


@public("compat.v2.reduce_all", "compat.v2.math.reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_all."""
    return tf.reduce_all(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_any", "compat.v2.math.reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_any."""
    return tf.reduce_any(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_logsumexp", "compat.v2.math.reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_logsumexp."""
    return tf.reduce_logsumexp(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_max", "compat.v2.math.reduce_max")
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_max."""
    return tf.reduce_max(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_mean", "compat.v2.math.reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_mean."""
    return tf.reduce_mean(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_min", "compat.v2.math.reduce_min")
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_min."""
    return tf.reduce_min(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_prod", "compat.v2.math.reduce_prod")
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_prod."""
    return tf.reduce_prod(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.reduce_sum", "compat.v2.math.reduce_sum")
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """tf.reduce_sum."""
    return tf.reduce_sum(input_tensor=input_tensor, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):
    """tf.math.count_nonzero."""
    return tf.math.count_nonzero(input=input, axis=axis, keepdims=keepdims, dtype=dtype, name=name)


@public("compat.v2.math.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None):
    """tf.math.confusion_matrix."""
    return tf.math.confusion_matrix(
        labels=labels, predictions=predictions, num_classes=num_classes, weights=weights, dtype=dtype, name=name
    )


@public("compat.v2.math.in_top_k", "compat.v2.nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """tf.math.in_top_k."""
    return tf.math.in_top_k(targets=targets, predictions=predictions, k=k, name=name)


@public("compat.v2.linalg.l2_normalize", "compat.v2.math.l2_normalize", "compat.v2.nn.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None):
    """tf.nn.l2_normalize."""
    return tf.nn.l2_normalize(x=x, axis=axis, epsilon=epsilon, name=name)


@public("compat.v2.math.softmax", "compat.v2.nn.softmax")
def softmax(logits, axis=None, name=None):
    """tf.nn.softmax."""
    return tf.nn.softmax(logits=logits, axis=axis, name=name)


@public("compat.v2.math.log_softmax", "compat.v2.nn.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """tf.nn.log_softmax."""
    return tf.nn.log_softmax(logits=logits, axis=axis, name=name)


@public("compat.v2.norm", "compat.v2.linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):
    """tf.norm."""
    return tf.norm(tensor=tensor, ord=ord, axis=axis, keepdims=keepdims, name=name)


@public("compat.v2.scalar_mul", "compat.v2.math.scalar_mul")
def scalar_mul(scalar, x, name=None):
    """tf.scalar_mul."""
    with tf.name_scope(name, "scalar_mul", [x]) as scope:
        return tf.scalar_mul(scalar, x, scope)


@public("compat.v2.random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """tf.random.poisson."""
    return tf.random.poisson(shape=shape, lam=lam, dtype=dtype, seed=seed, name=name)

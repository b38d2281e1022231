"""Activations, crossentropies, and what else is of networks."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites import cross_entropy
from stillflow.composites.clip import clip_by_value
from stillflow.composites.dropout import dropout_at_rate
from stillflow.eager.tensor import EagerTensor
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.values import int_shape, ndim
from stillflow.layers.core.settings import epsilon, image_data_format
from stillflow.names import public
from stillflow.variables.variable import Variable


@public("keras.backend.softmax")
def softmax(x, axis=-1):
    """exp(x), divided by its sum along an axis."""
    return ops.softmax(x, axis=axis)


@public("keras.backend.dropout")
def dropout(x, level, noise_shape=None, seed=None):
    """x with a share `level` of its elements 0, and the others divided by 1 - level."""
    if seed is None:
        seed = np.random.randint(10_000_000)
    return dropout_at_rate(x, rate=level, noise_shape=noise_shape, seed=seed)


@public("keras.backend.in_top_k")
def in_top_k(predictions, targets, k):
    """Whether the prediction of each target is among the k greatest of its row."""
    return ops.in_top_k(predictions, targets, k)


def _logits_of(output, activation):
    """What an activation was computed of, or None if that cannot be seen."""
    if isinstance(output, (EagerTensor, Variable)) or output.op.type != activation:
        return None
    return output.op.inputs[0]


def _within_epsilon(output):
    small = ops.constant(epsilon(), output.dtype.base_dtype)
    return clip_by_value(output, small, 1.0 - small)


@public("keras.backend.categorical_crossentropy")
def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The crossentropy of probabilities with true probabilities.

    Args:
      target: the true probabilities.
      output: the probabilities, or logits of them.
      from_logits: whether these are logits.
      axis: the axis of classes.
    """
    if not from_logits:
        logits = _logits_of(output, "Softmax")
        if logits is None:
            output = output / ops.reduce_sum(output, axis, True)
            return -ops.reduce_sum(target * ops.log(_within_epsilon(output)), axis)
        output = logits
    return cross_entropy.softmax_cross_entropy_with_logits_v2(labels=target, logits=output, axis=axis)


@public("keras.backend.sparse_categorical_crossentropy")
def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The crossentropy of probabilities where the true class is known.

    Args:
      target: the numbers of the true classes.
      output: the probabilities, or logits of them.
      from_logits: whether these are logits.
      axis: the axis of classes.

    Raises:
      ValueError: for another axis than the last, if the rank is not known.
    """
    if not from_logits:
        logits = _logits_of(output, "Softmax")
        output = ops.log(_sparse_within_epsilon(output)) if logits is None else logits
    rank = TensorShape(output.shape).ndims
    if rank is not None:
        axis %= rank
        if axis != rank - 1:
            output = ops.transpose(output, perm=[*range(axis), *range(axis + 1, rank), axis])
    elif axis != -1:
        raise ValueError(
            f"Cannot compute sparse categorical crossentropy with `axis={axis}` on an output tensor with unknown rank"
        )
    target = ops.cast(target, "int64")
    sizes = ops.shape(output)
    target_rank = target.shape.ndims
    as_rows = target_rank is not None and rank is not None and target_rank != rank - 1
    if as_rows:
        target = ops.reshape(target, [-1])
        output = ops.reshape(output, [-1, sizes[-1]])
    losses = cross_entropy.sparse_softmax_cross_entropy(labels=target, logits=output)
    return ops.reshape(losses, sizes[:-1]) if as_rows and rank >= 3 else losses


def _sparse_within_epsilon(output):
    small = ops.constant(epsilon(), output.dtype.base_dtype)
    return clip_by_value(output, small, 1 - small)


@public("keras.backend.binary_crossentropy")
def binary_crossentropy(target, output, from_logits=False):
    """The crossentropy of probabilities of yes with the truth, 0 or 1; or of logits of them."""
    if not from_logits:
        logits = _logits_of(output, "Sigmoid")
        if logits is None:
            output = _within_epsilon(output)
            likelihood = target * ops.log(output + epsilon())
            likelihood += (1 - target) * ops.log(1 - output + epsilon())
            return -likelihood
        output = logits
    return cross_entropy.sigmoid_cross_entropy(labels=target, logits=output)


@public("keras.backend.bias_add")
def bias_add(x, bias, data_format=None):
    """x plus a bias: a vector of the channels, or one of all but the first dimension.

    Raises ValueError for an unknown order of axes, and a bias of another rank.
    """
    data_format = data_format or image_data_format()
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    sizes, rank = int_shape(bias), ndim(x)
    if len(sizes) not in (1, rank - 1):
        raise ValueError(f"Unexpected bias dimensions {len(sizes)}, expect to be 1 or {rank} dimensions")
    is_first = data_format == "channels_first"
    if rank not in (3, 4, 5):
        return ops.bias_add(x, bias)
    if len(sizes) == 1:
        if rank == 4 and not is_first:
            return ops.bias_add(x, bias, data_format="NHWC")
        ones = (1,) * (rank - 2)
        return x + ops.reshape(bias, (1, sizes[0], *ones) if is_first else (1, *ones, sizes[0]))
    return x + ops.reshape(bias, (1, sizes[-1], *sizes[:-1]) if is_first else (1, *sizes))

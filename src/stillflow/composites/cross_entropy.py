"""Losses on logits: softmax, sigmoid and weighted cross entropy; Poisson log-likelihood."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.composites.checks import assert_comparison
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.convert import convert_to_tensor

# ---- Softmax ------------------------------------------------------------------------------------------------


@public("nn.softmax_cross_entropy_with_logits_v2")
def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """-sum(labels * log(softmax(logits))) along `axis`.

    Args:
      labels: a tensor of probabilities that sum to 1 along the axis.
      logits: a floating-point tensor of the same shape.
      axis: the axis of the classes, -1 by default.

    Returns:
      A tensor of the type of `logits` and its shape without the axis. Gradients flow into both arguments.

    Raises:
      InvalidArgumentError: when run, if the shapes cannot be broadcast against each other.
    """
    axis = renamed("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        is_short = logits.dtype in (dtypes.float16, dtypes.bfloat16)
        scores = ops.cast(logits, dtypes.float32) if is_short else logits
        labels = ops.cast(labels, scores.dtype)
        rank = ops.rank(scores)
        dims = logits._dims
        if axis != -1:
            scores = _with_axis_last(scores, axis, rank)
            labels = _with_axis_last(labels, axis, rank)
        shape = ops.shape(scores)
        scores, labels = _as_matrix(scores), _as_matrix(labels)
        losses, _ = ops.softmax_cross_entropy_op(scores, labels, name=scope)
        losses = ops.reshape(losses, ops.slice(shape, [0], [ops.sub(rank, 1)]))
        if dims is not None:
            kept = list(dims)
            del kept[axis]
            losses.set_shape(kept)
        return ops.cast(losses, logits.dtype) if is_short else losses


def _with_axis_last(tensor, axis, rank):
    order = ops.concat([ops.range(axis), ops.range(axis + 1, rank), [axis]], 0)
    return ops.transpose(tensor, order)


def _as_matrix(tensor):
    """All dimensions but the last made one."""
    rank = ops.rank(tensor)
    width = ops.slice(ops.shape(tensor), [ops.sub(rank, 1)], [1])
    matrix = ops.reshape(tensor, ops.concat([[-1], width], 0))
    dims = tensor._dims
    if dims is not None and None not in dims[:-1]:
        matrix.set_shape([math.prod(dims[:-1]), dims[-1]])
    return matrix


def softmax_cross_entropy_without_label_gradient(labels, logits, axis, name):
    """The same loss, where no gradient flows into the labels."""
    with name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = ops.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels, logits, axis, scope)


def sparse_softmax_cross_entropy(labels, logits, name=None):
    """The same loss for labels that are class numbers; see the facade."""
    with name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = convert_to_tensor(labels)
        logits = convert_to_tensor(logits)
        is_short = logits.dtype == dtypes.float16
        scores = ops.cast(logits, dtypes.float32) if is_short else logits
        labels_shape = ops.shape(labels)
        _check_sparse_labels(labels.shape, logits.shape)
        if logits.shape.rank == 2:
            losses, _ = ops.sparse_softmax_cross_entropy_op(scores, labels, name=name)
            return ops.cast(losses, dtypes.float16) if is_short else losses
        with get_default_graph().control_dependencies(_unknown_sizes_agree(labels, logits)):
            classes = ops.shape(logits)[ops.rank(logits) - 1]
            scores = ops.reshape(scores, [-1, classes])
            flat = ops.reshape(labels, [-1])
            losses, _ = ops.sparse_softmax_cross_entropy_op(scores, flat, name=name)
            losses = ops.reshape(losses, labels_shape)
            losses.set_shape(labels.shape)
            return ops.cast(losses, dtypes.float16) if is_short else losses


def _unknown_sizes_agree(labels, logits):
    """The check of what _check_sparse_labels could not see, in a list."""
    if labels.shape.is_fully_defined() and logits.shape[:-1].is_fully_defined():
        return []
    return [assert_comparison("assert_equal", ops.shape(labels), ops.shape(logits)[:-1])]


def _check_sparse_labels(labels, logits):
    if logits.rank == 0:
        raise ValueError(f"Logits cannot be scalars - received shape {logits}.")
    if logits.rank is not None and labels.rank is not None and labels.rank != logits.rank - 1:
        raise ValueError(
            f"Rank mismatch: Rank of labels (received {labels.rank}) should equal rank of logits minus 1 (received "
            f"{logits.rank})."
        )
    if labels.is_fully_defined() and logits[:-1].is_fully_defined() and labels != logits[:-1]:
        raise ValueError(
            f"Shape mismatch: The shape of labels (received {labels}) should equal the shape of logits except for "
            f"the last dimension (received {logits})."
        )


# ---- Sigmoid ------------------------------------------------------------------------------------------------


def _logits_and_labels(logits, labels, names=("logits", "labels")):
    """Both as tensors. Raises ValueError if their shapes differ."""
    logits = convert_to_tensor(logits, name=names[0])
    labels = convert_to_tensor(labels, name=names[1])
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"{names[0]} and {names[1]} must have the same shape ({logits.shape} vs {labels.shape})")
    return logits, labels


def sigmoid_cross_entropy(labels, logits, name=None):
    """max(x, 0) - x * z + log(1 + exp(-|x|)), with derivatives at 0 too."""
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits, labels = _logits_and_labels(logits, labels)
        zeros = ops.zeros_like(logits, dtype=logits.dtype)
        is_positive = logits >= zeros
        positive_part = ops.where(is_positive, logits, zeros)
        minus_magnitude = ops.where(is_positive, -logits, logits)
        linear = positive_part - logits * labels
        return ops.add(linear, ops.log1p(ops.exp(minus_magnitude)), name=scope)


@public("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """-q * z * log(sigmoid(x)) - (1 - z) * log(1 - sigmoid(x)), elementwise.

    Args:
      labels: z, a tensor of the type and shape of `logits`.
      logits: x, a floating-point tensor.
      pos_weight: q, what positive labels count, a number or a tensor that broadcasts.
      targets: the old name of `labels`.

    Raises:
      ValueError: if the shapes differ.
    """
    labels = renamed("labels", labels, "targets", targets)
    with name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits, labels = _logits_and_labels(logits, labels)
        weight = 1 + (pos_weight - 1) * labels
        linear = (1 - labels) * logits
        log_term = ops.log1p(ops.exp(-ops.abs(logits)))
        return ops.add(linear, weight * (log_term + ops.relu(-logits)), name=scope)


# ---- Poisson ------------------------------------------------------------------------------------------------


@public("nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """-log of the Poisson probability of `targets` where log_input is the logarithm of the expected value.

    Args:
      targets: a tensor of counts, of the type and shape of `log_input`.
      log_input: a floating-point tensor.
      compute_full_loss: whether to add an approximation of log(targets!), which does not depend on `log_input`.

    Raises:
      ValueError: if the shapes differ.
    """
    with name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input, targets = _logits_and_labels(log_input, targets, ("log_input", "targets"))
        result = ops.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = ops.constant(0.5, dtype=targets.dtype)
            two_pi = ops.constant(2 * math.pi, dtype=targets.dtype)
            stirling = targets * ops.log(targets) - targets + half * ops.log(two_pi * targets)
            zeros = ops.zeros_like(targets, dtype=targets.dtype)
            ones = ops.ones_like(targets, dtype=targets.dtype)
            is_small = ops.logical_and(targets >= zeros, targets <= ones)
            result += ops.where(is_small, zeros, stirling)
        return result


def _check_named(function, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")


@public("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """-log(softmax(logits)[label]) along the last axis. Takes named arguments only.

    Args:
      labels: an int32 or int64 tensor of class numbers, of the shape of `logits` without the last axis.
      logits: a floating-point tensor [..., classes].

    Returns:
      A tensor of the type of `logits` and the shape of `labels`.

    Raises:
      ValueError: if the shapes do not fit.
      InvalidArgumentError: when run, if a label is not in [0, classes).
    """
    _check_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    return sparse_softmax_cross_entropy(labels, logits, name)


@public("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """-z * log(sigmoid(x)) - (1 - z) * log(1 - sigmoid(x)), elementwise. Takes named arguments only.

    Args:
      labels: z, a tensor of the type and shape of `logits`.
      logits: x, a floating-point tensor.

    Raises:
      ValueError: if the shapes differ.
    """
    _check_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    return sigmoid_cross_entropy(labels, logits, name)


@public("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """softmax_cross_entropy_with_logits_v2 without a gradient for `labels`. Takes named arguments only.

    Args:
      labels: a tensor of probabilities that sum to 1 along the axis.
      logits: a floating-point tensor of the same shape.
      dim: the axis of the classes, -1 by default; `axis` is its newer name.
      name: a name for the operation.

    Returns:
      A tensor of the type of `logits` and its shape without the axis.

    Raises:
      ValueError: for arguments without names, or without `labels` and `logits`.
      InvalidArgumentError: when run, if the shapes cannot be broadcast against each other.
    """
    _check_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    dim = dim if axis is None else axis
    return softmax_cross_entropy_without_label_gradient(labels, logits, dim, name)

"""Sparsemax: the projection of scores to probabilities of which many are 0 (Martins and Astudillo, 1602.02068)."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("contrib.sparsemax.sparsemax")
def sparsemax(logits, name=None):
    """The nearest probabilities to scores: max(logits - tau, 0), with the tau of each row that makes their sum 1.

    Args:
      logits: a floating-point matrix [batch, classes].
      name: the name scope.

    Returns:
      A tensor of that type and shape. A row with a NaN or an infinity, or of -inf alone, is NaN.
    """
    with name_scope(name, "sparsemax", [logits]) as name:
        z = convert_to_tensor(logits, name="logits")
        rows = ops.shape(z)[0]
        classes = ops.shape(z)[1]
        ordered, _ = ops.top_k(z, k=classes)
        sums = ops.cumsum(ordered, axis=1)
        count = ops.range(1, ops.cast(classes, z.dtype) + 1, dtype=z.dtype)
        is_in_support = 1 + count * ordered > sums
        support = ops.reduce_sum(ops.cast(is_in_support, dtypes.int32), axis=1)
        # Without valid scores there is no support, whose last element would not be found.
        last = ops.maximum(support, 1)
        places = ops.stack([ops.range(0, rows), last - 1], axis=1)
        tau = (ops.gather_nd(sums, places) - 1) / ops.cast(support, z.dtype)
        probabilities = ops.maximum(ops.cast(0, z.dtype), z - tau[:, None])
        return ops.where(
            ops.logical_or(ops.equal(support, 0), ops.is_nan(sums[:, -1])),
            ops.fill([rows, classes], ops.cast(float("nan"), z.dtype)),
            probabilities,
        )


@public("contrib.sparsemax.sparsemax_loss")
def sparsemax_loss(logits, sparsemax, labels, name=None):
    """The loss whose gradient by the scores is sparsemax(logits) - labels.

    Args:
      logits: a floating-point matrix [batch, classes].
      sparsemax: what `sparsemax` makes of it.
      labels: probabilities of its type and shape.
      name: the name scope.

    Returns:
      A vector [batch].
    """
    with name_scope(name, "sparsemax_loss", [logits, sparsemax, labels]) as name:
        z = convert_to_tensor(logits, name="logits")
        sparsemax = convert_to_tensor(sparsemax, name="sparsemax")
        labels = convert_to_tensor(labels, name="labels")
        # Choices, not products: 0 times an infinite score would be NaN.
        of_support = ops.where(
            ops.logical_or(sparsemax > 0, ops.is_nan(sparsemax)),
            sparsemax * (z - 0.5 * sparsemax),
            ops.zeros_like(sparsemax),
        )
        of_labels = labels * (0.5 * labels - z)
        of_labels = ops.where(ops.logical_and(ops.equal(labels, 0), ops.is_inf(z)), ops.zeros_like(z), of_labels)
        return ops.reduce_sum(of_support + of_labels, axis=1)

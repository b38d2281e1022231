"""How well classes agree: accuracy of a batch, confusion matrices, Cohen's kappa."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.confusion_matrix import confusion_matrix as _confusion_matrix
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.state import collect, metric_variable, only_in_graphs, squeezed
from stillflow.names import public
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope


@public("contrib.metrics.accuracy")
def accuracy(predictions, labels, weights=None, name=None):
    """The share of predictions that are as the labels, a float32 scalar, of this batch only.

    Args:
      predictions, labels: tensors of one shape and type: integers, bools or strings.
      weights: a tensor of their shape, or that multiplies with it; 1 by default.
      name: the scope of the nodes.

    Raises:
      ValueError: for labels of another type, or predictions of another type than theirs.
    """
    if not (labels.dtype.is_integer or labels.dtype in (dtypes.bool_, dtypes.string)):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype!r}")
    if not labels.dtype.is_compatible_with(predictions.dtype):
        raise ValueError(
            f"Dtypes of predictions and labels should match. Given: predictions ({predictions.dtype!r}) and labels "
            f"({labels.dtype!r})"
        )
    with name_scope(name, "accuracy", values=[predictions, labels]):
        is_correct = ops.cast(ops.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return ops.reduce_mean(is_correct)
        is_correct = ops.mul(is_correct, weights)
        total = ops.mul(weights, ops.ones_like(is_correct))
        return ops.div(ops.reduce_sum(is_correct), ops.reduce_sum(total))


@public("contrib.metrics.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """The old name of tf.math.confusion_matrix."""
    return _confusion_matrix(labels, predictions, num_classes, dtype, name, weights)


@public("contrib.metrics.cohen_kappa")
def cohen_kappa(
    labels, predictions_idx, num_classes, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """Cohen's kappa so far: how much more predictions agree with labels than by chance; and an update.

    "A coefficient of agreement for nominal scales", Cohen 1960.

    Args:
      labels: numbers of classes, [batch] or [batch, 1].
      predictions_idx: the same of predictions.
      num_classes: how many classes there are.
      weights: a tensor of the labels' shape, or a scalar; 1 by default.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the variable scope.

    Returns:
      A float64 tensor and the operation that adds to it, and gives it after that.

    Raises:
      ValueError: for less than two classes, or shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("cohen_kappa")
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2.Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", (labels, predictions_idx, weights)):
        labels.get_shape().with_rank_at_most(2)
        if labels.get_shape().ndims == 2:
            labels = ops.squeeze(labels, axis=[-1])
        predictions, labels, weights = squeezed(predictions_idx, labels, weights)
        predictions.shape.assert_is_compatible_with(labels.shape)
        dtype = dtypes.int64 if weights is None or weights.dtype.is_integer else dtypes.float32
        variables = [metric_variable((num_classes,), dtype, name=each) for each in ("po", "pe_row", "pe_col")]
        table = _confusion_matrix(labels, predictions, num_classes, dtype, "counts_in_table", weights)
        sums = [ops.diag_part(table), ops.reduce_sum(table, axis=0), ops.reduce_sum(table, axis=1)]
        updates = [assign_add(variable, added) for variable, added in zip(variables, sums, strict=True)]
        value = collect(_kappa(variables, "value"), metrics_collections)
        return value, collect(_kappa(updates, "update_op"), updates_collections)


def _kappa(counts, name):
    """(agreement - chance) / (all - chance)."""
    agreed, rows, columns = counts
    agreed = ops.reduce_sum(agreed)
    total = ops.reduce_sum(rows)
    products = ops.cast(rows * columns, dtypes.float64)
    chance = ops.reduce_sum(ops.div_no_nan(products, ops.cast(total, dtypes.float64)))
    agreed, total = ops.cast(agreed, dtypes.float64), ops.cast(total, dtypes.float64)
    return ops.div_no_nan(agreed - chance, total - chance, name=name)

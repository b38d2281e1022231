"""True and false positives among the k highest-scored classes, per example and accumulated."""

from __future__ import annotations

from collections.abc import Callable

from stillflow import ops
from stillflow.composites.sparse import sparse_retain
from stillflow.composites.weights_broadcast import assert_broadcastable
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.metrics.state import metric_variable
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.math.reduction import reduced_shape
from stillflow.ops.sparse.sets import set_difference, set_intersection, set_size
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from stillflow.variables.assignments import assign_add


def at_k_name(name, k=None, class_id=None):
    """The default name of a metric at k, or of one class."""
    name = f"{name}_at_k" if k is None else f"{name}_at_{k:d}"
    return name if class_id is None else f"{name}_class{class_id:d}"


def expanded(labels, predictions):
    """The labels, with a last dimension of size 1 if they have one dimension less than the predictions.

    Raises ValueError for shapes that do not fit.
    """
    with name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return cond(
                ops.equal(ops.rank(predictions), ops.size(labels.dense_shape) + 1),
                lambda: ops.sparse_reshape(labels, ops.concat((labels.dense_shape, (1,)), 0), name=scope),
                lambda: labels,
            )
        rank, wanted = labels.shape.rank, predictions.shape.rank
        if rank is not None and wanted is not None:
            if rank == wanted:
                return labels
            if wanted == rank + 1:
                return ops.expand_dims(labels, -1, name=scope)
            raise ValueError(f"Unexpected labels shape {labels.shape} for predictions shape {predictions.shape}.")
        return cond(
            ops.equal(ops.rank(predictions), ops.rank(labels) + 1),
            lambda: ops.expand_dims(labels, -1, name=scope),
            lambda: labels,
        )


def _only_class(ids, selected):
    """A SparseTensor of those ids that are the selected one."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, ops.equal(ids.values, selected))
    shape = ops.shape(ids, out_type=dtypes.int64)
    last = ops.size(shape) - 1
    filled_shape = reduced_shape(shape, ops.reshape(last, [1]))
    filled = ops.fill(filled_shape, ops.cast(selected, dtypes.int64))
    found = set_intersection(filled, ids)
    return SparseTensor(found.indices, found.values, shape)


def _count(name, operation, labels, predictions, class_id, weights, scope=None):
    """For each element the size of a set of its labels and predictions, weighted, as float64."""
    with name_scope(scope, name, (predictions, labels, weights)):
        if class_id is not None:
            labels = _only_class(labels, class_id)
            predictions = _only_class(predictions, class_id)
        counts = ops.cast(set_size(operation(predictions, labels)), dtypes.float64)
        if weights is not None:
            with control_dependencies((assert_broadcastable(weights, counts),)):
                weights = ops.cast(weights, dtypes.float64)
                counts = ops.mul(counts, weights)
        return counts


def true_positives(labels, predictions, class_id=None, weights=None, name=None):
    """How many of an element's predictions are among its labels, weighted."""
    return _count("true_positives", set_intersection, labels, predictions, class_id, weights, name)


def _false_negatives(labels, predictions, class_id, weights):
    def missed(predictions, labels):
        return set_difference(predictions, labels, aminusb=False)

    return _count("false_negatives", missed, labels, predictions, class_id, weights)


def _false_positives(labels, predictions, class_id, weights):
    return _count("false_positives", set_difference, labels, predictions, class_id, weights)


_COUNTS: dict[str, Callable] = {
    "true_positive": true_positives,
    "false_negative": _false_negatives,
    "false_positive": _false_positives,
}


def streaming_count(kind, labels, predictions, k, class_id, weights):
    """(the count over all batches, a variable, and the operation that adds to it).

    Args:
      kind: "true_positive", "false_negative" or "false_positive".
      labels: classes, [..., any number], dense or sparse.
      predictions: the k classes that are thought likeliest, int64, [..., k].
      k: for the name.
      class_id: the only class to count, or None.
      weights: of the elements, or None.
    """
    with name_scope(None, at_k_name(kind, k, class_id), (predictions, labels, weights)) as scope:
        counts = _COUNTS[kind](labels, predictions, class_id, weights)
        total = ops.cast(ops.reduce_sum(counts), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, assign_add(variable, total, name="update")

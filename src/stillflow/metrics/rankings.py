"""Metrics of the k highest-scored classes: recall, precision and average precision at k."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.weights_broadcast import broadcast_weights
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.metrics import top_k_counts
from stillflow.metrics.state import collect, metric_variable, only_in_graphs
from stillflow.metrics.top_k_counts import at_k_name, expanded, streaming_count
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.sparse.sets import set_size
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue, convert_to_tensor_or_sparse_tensor
from stillflow.variables.assignments import assign_add


def _share_at_top_k(name, miss, given, options, metrics_collections, updates_collections, scope_name):
    """The share of true positives among these and the misses; `given` are labels, predictions and weights."""
    labels, predictions, weights = given
    k, class_id = options
    with name_scope(scope_name, at_k_name(name, k, class_id), (predictions, labels, weights)) as scope:
        labels = expanded(labels, predictions)
        predictions = ops.cast(predictions, dtypes.int64)
        hits, hits_update = streaming_count("true_positive", labels, predictions, k, class_id, weights)
        misses, misses_update = streaming_count(miss, labels, predictions, k, class_id, weights)
        value = collect(ops.div(hits, ops.add(hits, misses), name=scope), metrics_collections)
        update = ops.div(hits_update, ops.add(hits_update, misses_update), name="update")
        return value, collect(update, updates_collections)


@public("metrics.recall_at_top_k")
def recall_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of labels that are among the predictions.

    Args:
      labels: classes, int64: [...], or [..., any number], dense or a SparseTensor.
      predictions_idx: the classes that are thought likeliest, [..., k].
      k: a number, for the name.
      class_id: the only class to count, or None.
      weights: of the elements: a scalar, or of the labels' rank but for the last dimension, with sizes that are
        theirs or 1.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the name scope, "recall_at_3" for k = 3 by default.

    Returns:
      A float64 scalar: the share so far. An operation that counts on, and gives the share after that.

    Raises:
      ValueError: for shapes that do not fit.
    """
    given = labels, predictions_idx, weights
    return _share_at_top_k(
        "recall", "false_negative", given, (k, class_id), metrics_collections, updates_collections, name
    )


@public("metrics.recall_at_k")
def recall_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The share of labels that are among the k classes of the greatest `predictions`, [..., classes].

    See `recall_at_top_k`. Raises RuntimeError in eager execution.
    """
    only_in_graphs("recall_at_k")
    with name_scope(name, at_k_name("recall", k, class_id), (predictions, labels, weights)) as scope:
        _, top = ops.top_k(predictions, k)
        return recall_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@public("metrics.precision_at_top_k")
def precision_at_top_k(
    labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
    updates_collections=None, name=None,
):  # fmt: skip
    """The share of the predictions that are among the labels.

    See `recall_at_top_k`. Raises RuntimeError in eager execution.
    """
    only_in_graphs("precision_at_top_k")
    given = labels, predictions_idx, weights
    return _share_at_top_k(
        "precision", "false_positive", given, (k, class_id), metrics_collections, updates_collections, name
    )


@public("metrics.precision_at_k")
def precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The share of the k classes of the greatest `predictions`, [..., classes], that are among the labels.

    See `recall_at_top_k`. Raises RuntimeError in eager execution.
    """
    only_in_graphs("sparse_precision_at_k")
    with name_scope(name, at_k_name("precision", k, class_id), (predictions, labels, weights)) as scope:
        _, top = ops.top_k(predictions, k)
        return precision_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


@public("metrics.sparse_precision_at_k")
def sparse_precision_at_k(
    labels, predictions, k, class_id=None, weights=None, metrics_collections=None, updates_collections=None,
    name=None,
):  # fmt: skip
    """The old name of `precision_at_k`."""
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


# ---- Average precision --------------------------------------------------------------------------------------


@public("metrics.average_precision_at_k")
def average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The mean over the elements of their average precision at k.

    That is the sum of the precisions at those ranks up to k where there is a label, divided by the number of labels,
    or by k if that is less.

    Args:
      labels: classes, int64: [...], or [..., any number], dense or a SparseTensor. Those that there are not, count
        as labels that are never predicted.
      predictions: [..., classes].
      k: how many of the likeliest classes to look at.
      weights: of the elements: a scalar, or of the labels' rank but for the last dimension.
      metrics_collections, updates_collections: collections to add the first and the second result to.
      name: of the name scope, "average_precision_at_3" for k = 3 by default.

    Returns:
      A float64 scalar: the mean so far. An operation that counts on, and gives the mean after that.

    Raises:
      ValueError: for k less than 1, or shapes that do not fit.
      RuntimeError: in eager execution.
    """
    only_in_graphs("sparse_average_precision_at_k")
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with name_scope(name, at_k_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, top = ops.top_k(predictions, k)
        labels = _without_unknown(labels, ops.cast(ops.shape(predictions)[-1], dtypes.int64))
        return _streaming_average_precision(labels, top, weights, metrics_collections, updates_collections, scope)


@public("metrics.sparse_average_precision_at_k")
def sparse_average_precision_at_k(
    labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None, name=None
):
    """The old name of `average_precision_at_k`."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)


def _without_unknown(labels, num_classes):
    """The labels, those that are no classes replaced by -1."""
    is_sparse = isinstance(labels, (SparseTensor, SparseTensorValue))

    def known(values):
        return ops.where_v2(ops.greater_equal(values, num_classes), -1 * ops.ones_like(values), values)

    def replaced():
        return type(labels)(labels.indices, known(labels.values), labels.dense_shape) if is_sparse else known(labels)

    largest = ops.reduce_max(labels.values if is_sparse else labels)
    return cond(ops.greater_equal(largest, num_classes), replaced, lambda: labels)


def _streaming_average_precision(labels, predictions, weights, metrics_collections, updates_collections, name):
    with name_scope(name, "average_precision_at_top_k", (predictions, labels, weights)) as scope:
        precisions = _average_precision(labels, predictions)
        if weights is not None:
            weights = broadcast_weights(ops.cast(weights, dtypes.float64), precisions)
            precisions = ops.mul(precisions, weights)
        with name_scope(None, "max", (precisions,)) as max_scope:
            count = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                batch_count = ops.cast(ops.size(precisions, name="batch_max"), dtypes.float64)
            else:
                batch_count = ops.reduce_sum(weights, name="batch_max")
            new_count = assign_add(count, batch_count, name="update")
        with name_scope(None, "total", (precisions,)) as total_scope:
            total = metric_variable([], dtypes.float64, name=total_scope)
            batch_total = ops.reduce_sum(precisions, name="batch_total")
            new_total = assign_add(total, batch_total, name="update")
        value = collect(ops.div_no_nan(total, count, name="mean"), metrics_collections)
        return value, collect(ops.div_no_nan(new_total, new_count, name=scope), updates_collections)


def _average_precision(labels, predictions):
    """The average precision of each element, float64. Raises ValueError unless k is known."""
    with name_scope(None, "average_precision", (predictions, labels)) as scope:
        predictions = ops.cast(predictions, dtypes.int64, name="predictions_idx")
        if predictions.shape.rank == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = predictions.shape.as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = expanded(labels, predictions)
        predictions = ops.expand_dims(predictions, -1, name="predictions_idx_per_k")
        labels_per_k = _repeated(labels, k, name="labels_per_k")
        hits = top_k_counts.true_positives(labels_per_k, predictions, name="relevant_per_k")
        hits_so_far = ops.cumsum(hits, axis=-1, name="tp_per_k")
        ranks = ops.cumsum(ops.ones_like(hits), axis=-1, name="retrieved_per_k")
        precisions = ops.div(
            ops.cast(hits_so_far, dtypes.float64), ops.cast(ranks, dtypes.float64), name="precision_per_k"
        )
        relevant = ops.mul(precisions, ops.cast(hits, dtypes.float64), name="relevant_precision_per_k")
        total = ops.reduce_sum(relevant, axis=(-1,), name="precision_sum")
        count = ops.cast(_label_count(labels, k), dtypes.float64)
        return ops.div(total, count, name=scope)


def _repeated(labels, k, name):
    """The labels k times, along a new last dimension but one."""
    with name_scope(name, "expand_and_tile", (labels, k, -1)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            before_last = ops.reshape(ops.size(labels.dense_shape) + -1, [1])  # TensorFlow adds the negative axis
            shape = ops.concat(
                (
                    ops.slice(labels.dense_shape, [0], before_last),
                    [1],
                    ops.slice(labels.dense_shape, before_last, [-1]),
                ),
                0,
                name="expanded_shape",
            )
            more = ops.sparse_reshape(labels, shape, name="expand")
            return more if k == 1 else ops.sparse_concat(-2, [more] * k, name=scope)
        more = ops.expand_dims(labels, -2, name="expand")
        if k == 1:
            return more
        ones = ops.ones_like(ops.shape(labels))
        return ops.tile(more, ops.concat((ones[:-1], (k,), ones[-1:]), 0, name="multiples"), name=scope)


def _label_count(labels, k):
    """How many labels each element has, but at most k. Dense labels that are negative do not count."""
    with name_scope(None, "num_relevant", (labels,)) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return ops.minimum(set_size(labels), k, name=scope)
        is_label = ops.where_v2(ops.greater_equal(labels, 0), ops.ones_like(labels), ops.zeros_like(labels))
        return ops.minimum(ops.reduce_sum(is_label, axis=-1), k, name=scope)

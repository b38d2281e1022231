"""confusion_matrix: counts of examples by label (row) and prediction (column)."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.checks import assert_comparison, assert_sign
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """Both, the one with a dimension more than expected without its last, which must be of size 1."""
    with name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
        if labels.shape.rank is not None and predictions.shape.rank is not None:
            difference = predictions.shape.rank - labels.shape.rank
            if difference == expected_rank_diff + 1:
                predictions = ops.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = ops.squeeze(labels, [-1])
            return labels, predictions
        difference = ops.rank(predictions) - ops.rank(labels)
        predictions = _squeezed_if(predictions, expected_rank_diff + 1, difference)
        labels = _squeezed_if(labels, expected_rank_diff - 1, difference)
        return labels, predictions


def _squeezed_if(tensor, wanted, difference):
    """The tensor, without its last dimension where the difference of ranks is the one wanted."""
    if tensor.shape.rank is not None and not tensor.shape.dims[-1].is_compatible_with(1):
        return tensor
    return cond(ops.equal(wanted, difference), lambda: ops.squeeze(tensor, [-1]), lambda: tensor)


def _confusion_matrix(labels, predictions, num_classes, weights, dtype, name):
    """See the facade."""
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = remove_squeezable_dimensions(
            convert_to_tensor(labels, name="labels"), convert_to_tensor(predictions, name="predictions")
        )
        predictions, labels = ops.cast(predictions, dtypes.int64), ops.cast(labels, dtypes.int64)
        labels = _checked(labels, "`labels` contains negative values")
        predictions = _checked(predictions, "`predictions` contains negative values")
        if num_classes is None:
            num_classes = ops.maximum(ops.reduce_max(predictions), ops.reduce_max(labels)) + 1
        else:
            limit = ops.cast(num_classes, dtypes.int64)
            labels = _checked(labels, "`labels` out of bound", limit)
            predictions = _checked(predictions, "`predictions` out of bound", limit)
        if weights is not None:
            weights = convert_to_tensor(weights, name="weights")
            predictions.shape.assert_is_compatible_with(weights.shape)
            weights = ops.cast(weights, dtype)
        shape = ops.stack([num_classes, num_classes])
        places = ops.stack([labels, predictions], axis=1)
        values = ops.ones_like(predictions, dtype) if weights is None else weights
        counts = SparseTensor(places, values, ops.cast(shape, dtypes.int64))
        return ops.sparse_add(ops.zeros(ops.cast(shape, dtypes.int32), dtype), counts)


def _checked(classes, message, limit=None):
    """The classes, which must not be negative, or be below the limit."""
    if limit is None:
        check = assert_sign("assert_non_negative", classes, message=message)
    else:
        check = assert_comparison("assert_less", classes, limit, message=message)
    return with_dependencies([check], classes)


@public("confusion_matrix", "math.confusion_matrix")
def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """A matrix whose element [i, j] says how often a label i was predicted to be j.

    Args:
      labels, predictions: integers, [n] or [n, 1].
      num_classes: the size of the matrix; the largest class and one by default.
      dtype: the type of the matrix.
      weights: how much each prediction counts; 1 by default.

    Raises:
      InvalidArgumentError: for negative classes, or classes from `num_classes` on.
      ValueError: if the shapes do not fit each other.
    """
    return _confusion_matrix(labels, predictions, num_classes, weights, dtype, name)

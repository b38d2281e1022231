"""Accuracies: functions of true and predicted values, one number for each sample."""

from __future__ import annotations

from stillflow import ops
from stillflow.keras.backend.arithmetic import mean
from stillflow.keras.backend.values import dtype
from stillflow.keras.metrics.ragged_values import flat_values
from stillflow.layers.core.settings import floatx
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor


@public("python.keras.metrics.accuracy")
def accuracy(y_true, y_pred):
    """1 where the prediction is the truth, else 0."""
    (y_pred, y_true), _ = flat_values([y_pred, y_true])
    y_pred.shape.assert_is_compatible_with(y_true.shape)
    if y_true.dtype != y_pred.dtype:
        y_pred = ops.cast(y_pred, y_true.dtype)
    return ops.cast(ops.equal(y_true, y_pred), floatx())


@public("keras.metrics.binary_accuracy")
def binary_accuracy(y_true, y_pred, threshold=0.5):
    """How often the truth, 0 or 1, is on the side of the threshold where the prediction is."""
    threshold = ops.cast(threshold, y_pred.dtype)
    y_pred = ops.cast(y_pred > threshold, y_pred.dtype)
    return mean(ops.equal(y_true, y_pred), axis=-1)


@public("keras.metrics.categorical_accuracy")
def categorical_accuracy(y_true, y_pred):
    """1 where the greatest of predictions is that of the true class, else 0."""
    return ops.cast(ops.equal(ops.argmax(y_true, axis=-1), ops.argmax(y_pred, axis=-1)), floatx())


def _numbers(y_true, y_pred):
    """The truth without a last dimension that predictions have, too."""
    rank, true_rank = convert_to_tensor(y_pred).shape.ndims, convert_to_tensor(y_true).shape.ndims
    if rank is not None and rank == true_rank:
        return ops.squeeze(y_true, [-1])
    return y_true


@public("keras.metrics.sparse_categorical_accuracy")
def sparse_categorical_accuracy(y_true, y_pred):
    """1 where the greatest of predictions is that of the true class, given as a number, else 0."""
    y_true = _numbers(y_true, y_pred)
    y_pred = ops.argmax(y_pred, axis=-1)
    if dtype(y_pred) != dtype(y_true):
        y_pred = ops.cast(y_pred, dtype(y_true))
    return ops.cast(ops.equal(y_true, y_pred), floatx())


@public("keras.metrics.top_k_categorical_accuracy")
def top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the prediction of the true class is among the k greatest, else 0."""
    return ops.cast(ops.in_top_k(y_pred, ops.argmax(y_true, axis=-1), k), floatx())


@public("keras.metrics.sparse_top_k_categorical_accuracy")
def sparse_top_k_categorical_accuracy(y_true, y_pred, k=5):
    """1 where the prediction of the true class, given as a number, is among the k greatest, else 0."""
    y_true = _numbers(y_true, y_pred)
    return ops.cast(ops.in_top_k(y_pred, ops.cast(y_true, "int32"), k), floatx())

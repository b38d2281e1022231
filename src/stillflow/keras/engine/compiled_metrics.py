"""The metrics of a compiled model, for each output."""

from __future__ import annotations

from collections.abc import Mapping

from stillflow import ops
from stillflow.keras.engine.endpoints import check_keys
from stillflow.keras.losses import classes, functions
from stillflow.keras.losses.lookup import computes
from stillflow.keras.losses.reductions import squeeze_or_expand
from stillflow.keras.metrics import functions as accuracies
from stillflow.keras.metrics import lookup as metrics_by_name
from stillflow.keras.metrics.base import Metric, clone_metric
from stillflow.keras.metrics.means import MeanMetricWrapper
from stillflow.platform import tf2

_ACCURACY, _CROSSENTROPY = ("accuracy", "acc"), ("crossentropy", "ce")


def _is_name(metric, names):
    return isinstance(metric, str) and metric in names


def _name(metric, is_weighted):
    if tf2.enabled() and isinstance(metric, str):
        return metric
    prefix = "weighted_" if is_weighted and not tf2.enabled() else ""
    if _is_name(metric, _ACCURACY):
        return f"{prefix}acc"
    if _is_name(metric, _CROSSENTROPY):
        return f"{prefix}ce"
    found = metrics_by_name.get(metric)
    return prefix + (found.name if hasattr(found, "name") else found.__name__)


def _function(metric, output_shape, loss):
    """The metric that is meant; which accuracy or crossentropy, the output and its loss say."""
    if not _is_name(metric, _ACCURACY + _CROSSENTROPY):
        return metrics_by_name.get(metric)
    is_accuracy = metric in _ACCURACY
    if output_shape[-1] == 1 or computes(loss, functions.binary_crossentropy, classes.BinaryCrossentropy):
        return accuracies.binary_accuracy if is_accuracy else functions.binary_crossentropy
    if computes(loss, functions.sparse_categorical_crossentropy, classes.SparseCategoricalCrossentropy):
        return accuracies.sparse_categorical_accuracy if is_accuracy else functions.sparse_categorical_crossentropy
    return accuracies.categorical_accuracy if is_accuracy else functions.categorical_crossentropy


def _listed(metrics):
    return metrics if isinstance(metrics, list) else [metrics]


def _by_output(metrics, output_names):
    """The metrics of each output, of an argument of `compile`. Raises ValueError or TypeError if they do not fit."""
    if isinstance(metrics, list):
        if any(isinstance(each, list) for each in metrics):
            if len(metrics) != len(output_names):
                raise ValueError(
                    "When passing a list of lists as `metrics`, it should have one entry per model output. The model "
                    f"has {len(output_names)} outputs, but you passed metrics={metrics}"
                )
            return [_listed(each) for each in metrics]
        if len(output_names) > 1:
            return [[clone_metric(each) for each in metrics] for _ in output_names]
        return [metrics]
    if isinstance(metrics, Mapping):
        check_keys("metrics", metrics, output_names)
        return [_listed(metrics.get(name, [])) for name in output_names]
    raise TypeError(f"Type of `metrics` argument not understood. Expected a list or dictionary, found: {metrics}")


def metrics_of_outputs(metrics, output_names, output_shapes, losses, is_weighted=False):
    """[{name: Metric}] of the outputs."""
    if not metrics:
        return [{} for _ in output_names]
    found = []
    for each, shape, loss in zip(_by_output(metrics, output_names), output_shapes, losses, strict=True):
        named = {}
        for metric in each:
            name = _name(metric, is_weighted)
            function = _function(metric, shape, loss)
            named[name] = function if isinstance(function, Metric) else MeanMetricWrapper(function, name=name)
        found.append(named)
    return found


def weights_with_mask(weights, mask, y_pred):
    """Weights of samples that are 0 where the mask says so; each may be None."""
    if mask is None:
        return weights
    mask = ops.cast(mask, y_pred.dtype)
    if weights is None:
        return mask
    mask, _, weights = squeeze_or_expand(mask, sample_weight=weights)
    return ops.cast(weights, mask.dtype) * mask


def call_metric(metric, y_true, y_pred=None, weights=None, mask=None):
    """The result of a metric after one more batch."""
    weights = weights_with_mask(weights, mask, y_pred)
    if y_pred is None:
        return metric(y_true, sample_weight=weights)
    return metric(y_true, y_pred, sample_weight=weights)

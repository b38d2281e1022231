"""tf.contrib.learn.MetricSpec: which predictions and labels a metric is of."""

from __future__ import annotations

import functools

from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.training_loop.messages import log

# What functions call their arguments, the usual name first.
_NAMES = {
    "labels": ("labels", "label", "targets", "target"),
    "predictions": ("predictions", "prediction", "logits", "logit"),
    "weights": ("weights", "weight"),
}


def _argument(function_name, names, what, is_required):
    """The name that a function has for an argument, or None."""
    found = [name for name in _NAMES[what] if name in names]
    if len(found) > 1:
        raise ValueError(f"Ambiguous arguments {set(found)}, must provide only one of {set(_NAMES[what])}.")
    if not found:
        if is_required:
            raise ValueError(f"{set(_NAMES[what])} missing from {function_name}({tuple(names)}).")
        return None
    if found[0] != what:
        log().warning("Canonical arg %s missing from %s(%s), using %s.", what, function_name, tuple(names), found[0])
    return found[0]


def _adapted(function, name, needs_labels, needs_weights):
    """The metric as a function of labels, predictions and weights by name."""
    names = fn_args(function)
    labels_name = _argument(name, names, "labels", needs_labels)
    predictions_name = _argument(name, names, "predictions", is_required=False)
    weights_name = _argument(name, names, "weights", needs_weights)

    def metric(_sentinel=None, labels=None, predictions=None, weights=None):
        if _sentinel is not None:
            raise ValueError("`metric_fn` requires named args: `labels`, `predictions`, and optionally `weights`.")
        by_position, by_name = [], {}
        if predictions_name:
            by_name[predictions_name] = predictions
        else:
            by_position.append(predictions)
        if labels_name and not predictions_name and labels_name == names[0]:
            by_position.insert(0, labels)
        elif labels_name:
            by_name[labels_name] = labels
        if weights is not None:
            by_name[weights_name] = weights
        return function(*by_position, **by_name)

    return metric


def _name_of(function):
    inner = function.func if isinstance(function, functools.partial) else function
    return getattr(inner, "__name__", str(function))


@public("contrib.learn.MetricSpec")
class MetricSpec:
    """A metric of some of the predictions and labels.

    Args:
      metric_fn: a function of predictions and, if it takes them, labels and weights, by their usual names.
      prediction_key: the name of the prediction, if there are several.
      label_key: the name of the label, if there are several.
      weight_key: the name of the feature that weights are.

    Raises:
      ValueError: for a function that takes no labels or weights where they are named, or several of the usual names.
    """

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        self._metric_fn_name = _name_of(metric_fn)
        self._metric_fn = _adapted(metric_fn, self._metric_fn_name, label_key is not None, weight_key is not None)
        self._prediction_key = prediction_key
        self._label_key = label_key
        self._weight_key = weight_key

    @property
    def prediction_key(self):
        """The name of the prediction, or None."""
        return self._prediction_key

    @property
    def label_key(self):
        """The name of the label, or None."""
        return self._label_key

    @property
    def weight_key(self):
        """The name of the feature that weights are, or None."""
        return self._weight_key

    @property
    def metric_fn(self):
        """The metric as a function of `labels`, `predictions` and `weights` by name."""
        return self._metric_fn

    def __str__(self):
        return (
            f"MetricSpec(metric_fn={self._metric_fn_name}, prediction_key={self._prediction_key}, "
            f"label_key={self._label_key}, weight_key={self._weight_key})"
        )

    def create_metric_ops(self, inputs, labels, predictions):
        """What the metric returns for features, labels and predictions: tensors, or dicts of them.

        Raises:
          ValueError, KeyError: for a name where there is one tensor, no name where there are several, and names that
            there are not.
        """
        prediction = _selected("prediction", predictions, self._prediction_key)
        label = _selected("label", labels, self._label_key)
        weights = inputs[self._weight_key] if self._weight_key else None
        try:
            return self._metric_fn(labels=label, predictions=prediction, weights=weights)
        except Exception as error:
            log().error("Could not create metric ops for %s, %s.", self, error)
            raise


def _selected(what, given, key):
    if key:
        if not isinstance(given, dict):
            raise ValueError(
                f"MetricSpec with {what}_key specified requires {what}s dict, got {given}.\nYou must not provide a "
                f"{what}_key if you only have a single Tensor as {what}s."
            )
        if key not in given:
            raise KeyError(f"Key '{key}' missing from {given.keys()}.")
        return given[key]
    if not isinstance(given, dict):
        return given
    if len(given) != 1:
        raise ValueError(
            f"MetricSpec without specified {what}_key requires {what}s tensor or single element dict, got {given}"
        )
    return next(iter(given.values()))


def metric_ops(metrics, features, labels, predictions):
    """{name: (value, update)} of metrics: MetricSpecs, or functions of predictions and labels.

    Raises:
      ValueError: for functions where there are several predictions, and (name, prediction) where there is one.
    """
    label = next(iter(labels.values())) if isinstance(labels, dict) and len(labels) == 1 else labels
    found = {}
    for name, metric in sorted(metrics.items(), key=lambda item: str(item[0])):
        if isinstance(metric, MetricSpec):
            found[name] = metric.create_metric_ops(features, labels, predictions)
        elif isinstance(name, tuple):
            if len(name) != 2:
                raise ValueError(f"Invalid metric for {name}. It returned a tuple with len {len(name)}, expected 2.")
            if not isinstance(predictions, dict):
                raise ValueError(
                    "Metrics passed provide (name, prediction), but predictions are not dict. Metrics: "
                    f"{metrics}, Predictions: {predictions}."
                )
            own = labels[name[1]] if isinstance(labels, dict) and name[1] in labels else label
            found[name[0]] = metric(predictions[name[1]], own)
        elif isinstance(predictions, dict):
            raise ValueError(
                "Metrics passed provide only name, no prediction, but predictions are dict. Metrics: "
                f"{metrics}, Labels: {label}."
            )
        else:
            found[name] = metric(predictions, label)
    return found

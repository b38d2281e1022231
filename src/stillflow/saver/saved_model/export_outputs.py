"""tf.estimator.export.PredictOutput and its kin: which outputs of a model a signature of a SavedModel has."""

from __future__ import annotations

import abc

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public
from stillflow.saver.saved_model import signatures

_SEPARATOR = "/"


@public("estimator.export.ExportOutput", "python.estimator.export.export_output.ExportOutput")
class ExportOutput(abc.ABC):
    """Outputs of a model that can become a signature."""

    @abc.abstractmethod
    def as_signature_def(self, receiver_tensors):
        """The SignatureDef message, with these inputs.

        Args:
          receiver_tensors: {name: tensor}, what callers feed.

        Raises ValueError if the inputs are not what this kind of output needs.
        """


def _checked_key(key, label):
    """The key of an output; of a tuple, its parts put together."""
    if isinstance(key, tuple):
        key = _SEPARATOR.join(key)
    if not isinstance(key, str):
        raise ValueError(f"{label} output key must be a string; got {key}.")
    return key


def _checked_outputs(outputs, default_name, label=None):
    """{key: tensor} of a dict of outputs, or of a single one."""
    label = label or default_name
    if not isinstance(outputs, dict):
        outputs = {default_name: outputs}
    found = {}
    for key, value in outputs.items():
        key = _checked_key(key, label)
        if not isinstance(value, Tensor):
            raise ValueError(f"{label} output value must be a Tensor; got {value}.")
        found[key] = value
    return found


def _only_examples(receiver_tensors, what):
    """The one input, a string tensor of serialized Examples, of signatures that have no other."""
    examples = next(iter(receiver_tensors.values())) if len(receiver_tensors) == 1 else None
    if examples is None or dtypes.as_dtype(examples.dtype) != dtypes.string:
        raise ValueError(f"{what} input must be a single string Tensor; got {receiver_tensors}")
    return examples


def _is_tensor(value, holds):
    return isinstance(value, Tensor) and holds(value.dtype)


@public("estimator.export.ClassificationOutput", "python.estimator.export.export_output.ClassificationOutput")
class ClassificationOutput(ExportOutput):
    """What a classifier says.

    Args:
      scores: a tensor of floats [batch, classes], or None.
      classes: the names of the classes, a string tensor, or None.

    Raises ValueError for other types, and for neither.
    """

    def __init__(self, scores=None, classes=None):
        if scores is not None and not _is_tensor(scores, lambda dtype: dtype.is_floating):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not _is_tensor(classes, lambda dtype: dtype == dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("At least one of scores and classes must be set.")
        self._scores = scores
        self._classes = classes

    @property
    def scores(self):
        """The scores, or None."""
        return self._scores

    @property
    def classes(self):
        """The names of the classes, or None."""
        return self._classes

    def as_signature_def(self, receiver_tensors):
        examples = _only_examples(receiver_tensors, "Classification")
        return signatures.classification_signature_def(examples, self.classes, self.scores)


@public("estimator.export.RegressionOutput", "python.estimator.export.export_output.RegressionOutput")
class RegressionOutput(ExportOutput):
    """What a regression says: a tensor of floats. Raises ValueError for anything else."""

    def __init__(self, value):
        if not _is_tensor(value, lambda dtype: dtype.is_floating):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    @property
    def value(self):
        """The predicted numbers."""
        return self._value

    def as_signature_def(self, receiver_tensors):
        examples = _only_examples(receiver_tensors, "Regression")
        return signatures.regression_signature_def(examples, self.value)


@public("estimator.export.PredictOutput", "python.estimator.export.export_output.PredictOutput")
class PredictOutput(ExportOutput):
    """Any outputs: {name: tensor}, or a single tensor, which is called "output".

    Raises ValueError for names that are no strings, and for what is no tensor.
    """

    def __init__(self, outputs):
        self._outputs = _checked_outputs(outputs, "output", "Prediction")

    @property
    def outputs(self):
        """{name: tensor}."""
        return self._outputs

    def as_signature_def(self, receiver_tensors):
        return signatures.predict_signature_def(receiver_tensors, self.outputs)


# ---- Of models that are trained or evaluated where they are served ------------------------------------------------


class _SupervisedOutput(ExportOutput):
    """Loss, predictions and metrics; each a tensor, a dict of them, or None. A metric is (value, update)."""

    def __init__(self, loss=None, predictions=None, metrics=None):
        self._loss = None if loss is None else _prefixed(_checked_outputs(loss, "loss"), "loss")
        self._predictions = None
        if predictions is not None:
            self._predictions = _prefixed(_checked_outputs(predictions, "predictions"), "predictions")
        self._metrics = None if metrics is None else _metric_outputs(metrics)

    @property
    def loss(self):
        """{"loss...": tensor}, or None."""
        return self._loss

    @property
    def predictions(self):
        """{"predictions...": tensor}, or None."""
        return self._predictions

    @property
    def metrics(self):
        """{"metrics/<name>/value" and "metrics/<name>/update_op": tensor}, or None."""
        return self._metrics


@public("python.saved_model.model_utils.export_output.TrainOutput")
class TrainOutput(_SupervisedOutput):
    """What a model says as it is trained."""

    def as_signature_def(self, receiver_tensors):
        return signatures.supervised_train_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


@public("python.saved_model.model_utils.export_output.EvalOutput")
class EvalOutput(_SupervisedOutput):
    """What a model says as it is evaluated."""

    def as_signature_def(self, receiver_tensors):
        return signatures.supervised_eval_signature_def(receiver_tensors, self.loss, self.predictions, self.metrics)


def _prefixed(outputs, prefix):
    return {_with_prefix(key, prefix): value for key, value in outputs.items()}


def _with_prefix(key, prefix):
    return key if key.startswith(prefix) else f"{prefix}{_SEPARATOR}{key}"


def _metric_outputs(metrics):
    if not isinstance(metrics, dict):
        metrics = {"metrics": metrics}
    outputs = {}
    for key, metric in metrics.items():
        value, update = metric if isinstance(metric, tuple) else (metric.result(), metric.updates[0])
        key = _with_prefix(_checked_key(key, "metrics"), "metrics")
        if not isinstance(value, Tensor):
            raise ValueError(f"{key} output value must be a Tensor; got {value}.")
        if not isinstance(update, (Tensor, Operation)):
            raise ValueError(f"{key} update_op must be a Tensor or Operation; got {update}.")
        if isinstance(update, Operation):  # a signature has tensors only
            with get_default_graph().control_dependencies([update]):
                update = ops.constant([], name="metric_op_wrapper")
        outputs[f"{key}{_SEPARATOR}value"] = value
        outputs[f"{key}{_SEPARATOR}update_op"] = update
    return outputs

"""Heads of tf.contrib.learn's models: what makes losses, predictions and metrics of logits."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.summaries import scalar
from stillflow.contrib.layers.dense import linear
from stillflow.contrib.learn import head_metrics
from stillflow.contrib.learn.head_metrics import summary_key
from stillflow.contrib.learn.modes import ModeKeys, ModelFnOps, PredictionKey, ProblemType
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import fn_args
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor, is_sparse
from stillflow.resources.vocabulary_tables import index_table_from_tensor, index_to_string_table_from_tensor
from stillflow.training.adagrad import AdagradOptimizer
from stillflow.variables.scope import variable_scope
from stillflow.variables.variable import Variable


@public("contrib.learn.Head")
class Head:
    """What makes losses, predictions and metrics of the logits of a model."""

    @property
    def logits_dimension(self):
        """How many logits there are for an example."""
        raise NotImplementedError("Calling an abstract method.")

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        """The ModelFnOps of logits, or of the input of a linear layer that makes them.

        Args:
          features: {name: tensor}, which has the weights.
          mode: of ModeKeys.
          labels: a tensor or {name: tensor}; none are needed to predict.
          train_op_fn: a function of the loss that gives the operation to train.
          logits: [batch, logits_dimension], or None.
          logits_input: [batch, size], or None.
          scope: the variable scope.

        Raises ValueError for another mode, and for both or none of logits and logits_input.
        """
        raise NotImplementedError("Calling an abstract method.")


@public("contrib.learn.no_op_train_fn")
def no_op_train_fn(loss):
    """A train_op_fn that trains nothing."""
    return ops.no_op()


def check_mode(mode):
    """Raises ValueError for what is no mode."""
    if mode not in (ModeKeys.TRAIN, ModeKeys.EVAL, ModeKeys.INFER):
        raise ValueError(f"mode={mode} unrecognized.")


class _SingleHead(Head):
    """A head of one kind of labels. Descendants define the loss, the predictions and the metrics."""

    _NAME = ""
    _PROBLEM = ProblemType.UNSPECIFIED

    def __init__(self, logits_dimension, label_name, weight_column_name, enable_centered_bias, head_name, loss_fn):
        if logits_dimension is None or logits_dimension < 1:
            raise ValueError(f"Invalid logits_dimension {logits_dimension}.")
        self._logits_dimension = logits_dimension
        self.label_name, self.weight_column_name, self.head_name = label_name, weight_column_name, head_name
        self._is_centered = enable_centered_bias
        self._loss = loss_fn

    @property
    def logits_dimension(self):
        return self._logits_dimension

    def create_model_fn_ops(
        self, features, mode, labels=None, train_op_fn=None, logits=None, logits_input=None, scope=None
    ):
        values = [*features.values(), labels, logits, logits_input]
        with variable_scope(scope, default_name=self.head_name or self._NAME, values=values):
            labels = None if mode == ModeKeys.INFER or labels is None else self._labels_of(labels)
            logits = self._checked_logits(logits_input, logits)
            check_mode(mode)
            bias = self._centered_bias() if self._is_centered else None
            if bias is not None:
                logits = ops.bias_add(logits, bias)
            predictions = self._predictions(logits)
            found = {"predictions": predictions, "output_alternatives": self._alternatives(predictions)}
            if labels is not None:
                found.update(self._trained(features, mode, labels, logits, predictions, train_op_fn, bias))
            return ModelFnOps(mode=mode, **found)

    def _trained(self, features, mode, labels, logits, predictions, train_op_fn, bias):
        """{argument of ModelFnOps: its value} with labels."""
        weights = _weight_tensor(features, self.weight_column_name)
        loss, average = self._loss(labels, logits, weights)
        with name_scope(""):
            scalar(summary_key(self.head_name, "loss"), ops.identity(average))
        found = {"loss": loss}
        if mode == ModeKeys.TRAIN:
            if train_op_fn is None:
                raise ValueError("train_op_fn can not be None in TRAIN mode")
            step = None
            if bias is not None:
                step = self._centered_bias_step(bias, ops.shape(logits)[0], labels, weights)
            with name_scope(None, "train_op", (loss, labels)):
                train_op = train_op_fn(loss)
                found["train_op"] = train_op if step is None else group(train_op, step)
        with name_scope("metrics", values=[average, weights, *predictions.values()]):
            metrics = {"loss": head_metrics.mean_loss(average), **self._metrics(predictions, labels, weights)}
        found["eval_metric_ops"] = {summary_key(self.head_name, key): value for key, value in metrics.items()}
        return found

    def _labels_of(self, labels):
        """The labels as a tensor. Raises ValueError for sparse ones."""
        labels = labels[self.label_name] if isinstance(labels, dict) else labels
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if is_sparse(labels):
            raise ValueError("SparseTensor is not supported.")
        return labels

    def _checked_logits(self, logits_input, logits):
        if logits is None:
            if logits_input is None:
                raise ValueError("Neither logits nor logits_input supplied.")
            return linear(logits_input, self.logits_dimension, scope="logits")
        if logits_input is not None:
            raise ValueError("Both logits and logits_input supplied.")
        logits = convert_to_tensor(logits, name="logits")
        if logits.shape.ndims is not None:
            logits.shape.dims[-1].assert_is_compatible_with(self.logits_dimension)
        return logits

    def _centered_bias(self):
        size = self.logits_dimension
        bias: Any = Variable(name="centered_bias_weight", initial_value=ops.zeros(shape=(size,)), trainable=True)
        for i in range(size):
            name = f"centered_bias/bias_{i}"
            scalar(f"{name}/{self.head_name}" if self.head_name else name, bias[i])
        return bias

    def _centered_bias_step(self, bias, batch_size, labels, weights):
        """What trains the bias as if nothing else had been learned."""
        with name_scope(None, "centered_bias_step", (labels,)) as name:
            size = ops.shape(bias)[0]
            logits = ops.reshape(ops.tile(bias, (batch_size,)), (batch_size, size))
            with name_scope(None, "centered_bias", (labels, logits)):
                loss = ops.reduce_mean(self._loss(labels, logits, weights), name="training_loss")
        return AdagradOptimizer(0.1).minimize(loss, var_list=(bias,), name=name)

    def _alternatives(self, predictions):
        return {self.head_name: (self._PROBLEM, predictions)}

    def _predictions(self, logits):
        raise NotImplementedError

    def _metrics(self, predictions, labels, weights):
        return {}


def _weight_tensor(features, name):
    """The weights of examples, [batch, 1], or None. Raises ValueError if the features lack them."""
    if not name:
        return None
    if name not in features:
        raise ValueError(f"Weights {name} missing from features.")
    with name_scope(None, "weight_tensor", tuple(features.values())):
        weights = ops.cast(features[name], dtypes.float32)
        return ops.reshape(weights, (-1, 1)) if weights.shape.ndims == 1 else weights


class RegressionHead(_SingleHead):
    """One or more numbers, for which `link` makes predictions of logits."""

    _NAME = "regression_head"
    _PROBLEM = ProblemType.LINEAR_REGRESSION

    def __init__(self, link, *arguments):
        self._link = link
        super().__init__(*arguments)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            if self.logits_dimension == 1:
                logits = ops.squeeze(logits, axis=(1,), name=PredictionKey.SCORES)
            return {PredictionKey.SCORES: self._link(logits)}


def _two_class_logits(logits):
    return ops.concat((ops.zeros_like(logits), logits), 1)


class ClassHead(_SingleHead):
    """One of classes: exports have their probabilities and names."""

    _PROBLEM = ProblemType.CLASSIFICATION
    _label_keys = None

    def _alternatives(self, predictions):
        probabilities = predictions[PredictionKey.PROBABILITIES]
        with name_scope(None, "_classification_output_alternatives", (probabilities,)):
            batch = ops.shape(probabilities)[0]
            if self._label_keys:
                keys = ops.expand_dims(self._label_keys, axis=0)
                classes = ops.tile(keys, [batch, 1], name="classes_tensor")
            else:
                numbers = ops.expand_dims(ops.range(ops.shape(probabilities)[1]), axis=0)
                classes = ops.as_string(ops.tile(numbers, [batch, 1]), name="classes_tensor")
        exported = {PredictionKey.PROBABILITIES: probabilities, PredictionKey.CLASSES: classes}
        return {self.head_name: (self._PROBLEM, exported)}


class BinaryHead(ClassHead):
    """One of two classes, of one logit."""

    _NAME = "binary_logistic_head"
    _PROBLEM = ProblemType.LOGISTIC_REGRESSION

    def __init__(self, thresholds, *arguments):
        self._thresholds = thresholds or (0.5,)
        super().__init__(*arguments)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            both = _two_class_logits(logits)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.LOGISTIC: ops.sigmoid(logits, name=PredictionKey.LOGISTIC),
                PredictionKey.PROBABILITIES: ops.softmax(both, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: ops.argmax(both, 1, name=PredictionKey.CLASSES),
            }

    def _metrics(self, predictions, labels, weights):
        logistic, classes = predictions[PredictionKey.LOGISTIC], predictions[PredictionKey.CLASSES]
        return head_metrics.two_class_metrics(logistic, classes, labels, weights, self._thresholds)


class SvmHead(_SingleHead):
    """One of two classes, with the hinge loss."""

    _NAME = "binary_svm_head"
    _PROBLEM = ProblemType.LOGISTIC_REGRESSION

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            classes = ops.argmax(_two_class_logits(logits), 1, name=PredictionKey.CLASSES)
            return {PredictionKey.LOGITS: logits, PredictionKey.CLASSES: classes}

    def _metrics(self, predictions, labels, weights):
        return {"accuracy": head_metrics.accuracy(labels, predictions[PredictionKey.CLASSES], weights)}


class _MultiClassHead(ClassHead):
    _NAME = "multi_class_head"

    def __init__(self, metric_class_ids, label_keys, n_classes, label_name, weight_column_name, *rest):
        is_centered, head_name, loss_fn = rest
        self._class_ids = tuple(metric_class_ids or ())
        for class_id in self._class_ids:
            if not 0 <= class_id < n_classes:
                raise ValueError(f"Class ID {class_id} not in [0, {n_classes}).")
        if label_keys and len(label_keys) != n_classes:
            raise ValueError("Length of label_keys must equal n_classes.")
        self._label_keys = label_keys
        self._ids_loss = loss_fn
        super().__init__(n_classes, label_name, weight_column_name, is_centered, head_name, self._loss_of_labels)

    def _labels_of(self, labels):
        labels = super()._labels_of(labels)
        ids = labels
        if self._label_keys:
            ids = index_table_from_tensor(self._label_keys, name="label_id_lookup").lookup(labels)
        return {"labels": labels, "label_ids": ids}

    def _loss_of_labels(self, labels, logits, weights=None):
        return self._ids_loss(labels["label_ids"], logits, weights=weights)

    def _predictions(self, logits):
        with name_scope(None, "predictions", (logits,)):
            classes = ops.argmax(logits, 1, name=PredictionKey.CLASSES)
            if self._label_keys:
                table = index_to_string_table_from_tensor(self._label_keys, name="class_string_lookup")
                classes = table.lookup(classes)
            return {
                PredictionKey.LOGITS: logits,
                PredictionKey.PROBABILITIES: ops.softmax(logits, name=PredictionKey.PROBABILITIES),
                PredictionKey.CLASSES: classes,
            }

    def _metrics(self, predictions, labels, weights):
        found = {"accuracy": head_metrics.accuracy(labels["labels"], predictions[PredictionKey.CLASSES], weights)}
        for class_id in () if self._label_keys else self._class_ids:
            found.update(head_metrics.class_metrics(predictions, labels["label_ids"], weights, class_id))
        return found


def check_loss_function(function):
    """Raises ValueError for a user's loss without one of the arguments."""
    for name in ("labels", "logits", "weights"):
        if name not in fn_args(function):
            raise ValueError(f"Argument {name} not found in loss_fn.")


@public("contrib.learn.regression_head")
def regression_head(
    label_name=None,
    weight_column_name=None,
    label_dimension=1,
    enable_centered_bias=False,
    head_name=None,
    link_fn=None,
):
    """A head of numbers, with the squared loss.

    Args:
      label_name: the key of labels that are in a dict.
      weight_column_name: the feature that is the weight of examples.
      label_dimension: how many numbers.
      enable_centered_bias: whether one more bias is learned by itself.
      head_name: a name for summaries and metrics.
      link_fn: makes predictions of logits; the identity by default.
    """
    arguments = label_dimension, label_name, weight_column_name, enable_centered_bias, head_name
    return RegressionHead(link_fn or ops.identity, *arguments, head_metrics.squared_loss)


@public("contrib.learn.poisson_regression_head")
def poisson_regression_head(
    label_name=None, weight_column_name=None, label_dimension=1, enable_centered_bias=False, head_name=None
):
    """A head of counts of Poisson's distribution, whose means are exp(logits). Args: see regression_head."""
    arguments = label_dimension, label_name, weight_column_name, enable_centered_bias, head_name
    return RegressionHead(ops.exp, *arguments, head_metrics.poisson_loss)


@public("contrib.learn.multi_class_head")
def multi_class_head(
    n_classes,
    label_name=None,
    weight_column_name=None,
    enable_centered_bias=False,
    head_name=None,
    thresholds=None,
    metric_class_ids=None,
    loss_fn=None,
    label_keys=None,
):
    """A head of one of some classes: with one logit if they are two, else with one for each.

    Args:
      n_classes: how many.
      label_name, weight_column_name, enable_centered_bias, head_name: see regression_head.
      thresholds: for which of two classes there are metrics; 0.5 by default.
      metric_class_ids: for which of more classes there are metrics.
      loss_fn: a function of `labels`, `logits` and `weights`; cross entropy by default.
      label_keys: the names of more classes, if labels are names.

    Raises ValueError for fewer than two classes, and for arguments that are not for as many.
    """
    if n_classes is None or n_classes < 2:
        raise ValueError(f"n_classes must be > 1 for classification: {n_classes}.")
    if loss_fn:
        check_loss_function(loss_fn)
        loss_fn = head_metrics.wrapped_loss(loss_fn)
    arguments = label_name, weight_column_name, enable_centered_bias, head_name
    if n_classes > 2:
        loss = loss_fn or head_metrics.softmax_loss
        return _MultiClassHead(metric_class_ids, label_keys, n_classes, *arguments, loss)
    if metric_class_ids:
        raise ValueError("metric_class_ids invalid for n_classes==2.")
    if label_keys:
        raise ValueError("label_keys is not supported for n_classes=2.")
    return BinaryHead(thresholds, 1, *arguments, loss_fn or head_metrics.logistic_loss)


@public("contrib.learn.binary_svm_head")
def binary_svm_head(
    label_name=None, weight_column_name=None, enable_centered_bias=False, head_name=None, thresholds=None
):
    """A head of one of two classes, with the hinge loss. Args: see multi_class_head."""
    arguments = label_name, weight_column_name, enable_centered_bias, head_name
    return SvmHead(1, *arguments, head_metrics.svm_loss)

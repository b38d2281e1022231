"""Baseline models: they learn what labels are on average, and look at no feature."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.composites.checks import assert_equal
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.numeric import NumericColumn
from stillflow.graph.contexts import control_dependencies
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.training.global_step import get_global_step
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import Zeros
from stillflow.variables.scope import variable_scope

LEARNING_RATE = 0.3


def _key_of(weight_column):
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(
            f"Weight column must be either a string or _NumericColumn. Given type: {type(weight_column)}."
        )
    return weight_column.key


def batch_of(features, weight_column):
    """(checks that all features have as many examples, how many examples there are)."""
    weights, checks, batch_size = _key_of(weight_column), [], None
    for key, feature in features.items():
        if key == weights:
            continue
        size = ops.shape(feature)[0]
        if batch_size is None:
            batch_size = size
        else:
            checks.append(assert_equal(batch_size, size))
    return checks, batch_size


def _logits(features, num_outputs, weight_column):
    """A bias for each example: [batch, num_outputs]. Features only say how large the batch is."""
    checks, batch_size = batch_of(features, weight_column)
    with control_dependencies(checks), variable_scope("baseline"):
        bias = get_variable("bias", shape=[num_outputs], initializer=Zeros)
        return ops.mul(bias, ops.ones([batch_size, num_outputs]))


def _model_fn(head, optimizer, weight_column=None):
    def train_op_fn(loss):
        opt = optimizer_of(optimizer, learning_rate=LEARNING_RATE)
        return opt.minimize(loss, global_step=get_global_step())

    def model_fn(features, labels, mode, config):
        logits = _logits(features, head.logits_dimension, weight_column)
        return head.create_estimator_spec(
            features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
        )

    return model_fn


@public("estimator.BaselineClassifier")
class BaselineClassifier(Estimator):
    """A classifier that says how often each class is, whatever the features are.

    Args:
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.train.Optimizer.
      config: a tf.estimator.RunConfig.
      loss_reduction: a tf.losses.Reduction.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl", config=None,
        loss_reduction=Reduction.SUM,
    ):  # fmt: skip
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_model_fn(head, optimizer, weight_column), model_dir, config)


@public("estimator.BaselineEstimator")
class BaselineEstimator(Estimator):
    """A baseline model with any head.

    Args:
      head: a head, whose logits are the same for all examples.
      model_dir, optimizer, config: as for BaselineClassifier.
    """

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        super().__init__(_model_fn(head, optimizer), model_dir, config)


@public("estimator.BaselineRegressor")
class BaselineRegressor(Estimator):
    """A regressor that says the mean of the labels, whatever the features are.

    Args:
      label_dimension: how many numbers the label of an example has.
      model_dir, weight_column, optimizer, config, loss_reduction: as for BaselineClassifier.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        loss_reduction=Reduction.SUM,
    ):  # fmt: skip
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(_model_fn(head, optimizer), model_dir, config)

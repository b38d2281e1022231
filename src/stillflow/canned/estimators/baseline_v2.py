"""Baseline models of TensorFlow 2: a head of tf.estimator.Head's kind, an optimizer of tf.keras."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.canned.estimators.baseline import LEARNING_RATE, batch_of
from stillflow.canned.estimators.optimizers import keras_optimizer_of
from stillflow.canned.heads.base import scaled_for_replicas
from stillflow.canned.heads.multi_class import binary_or_multi_class_head
from stillflow.canned.heads.regression import RegressionHead
from stillflow.estimator.estimator import Estimator
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.keras.losses.reductions import Reduction
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step
from stillflow.variables.variable import Variable


@public("python.estimator.canned.baseline._baseline_model_fn_builder_v2")
def baseline_part(features, num_outputs, weight_column=None):
    """(a list of the bias, logits [batch, num_outputs]): the bias for each example."""
    checks, batch_size = batch_of(features, weight_column)
    with control_dependencies(checks), name_scope("baseline"):
        bias = Variable(initial_value=ops.zeros([num_outputs]), name="bias", use_resource=True)
        return [bias], ops.mul(bias, ops.ones([batch_size, num_outputs]))


def _model_fn(head, optimizer, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE):
    def model_fn(features, labels, mode, config):
        variables, logits = baseline_part(features, head.logits_dimension, weight_column)
        opt: Any = None
        if mode == ModeKeys.TRAIN:
            opt = keras_optimizer_of(optimizer, LEARNING_RATE)
            opt.iterations = get_or_create_global_step()

        def train_op_fn(loss):
            return opt.get_updates(scaled_for_replicas(loss, loss_reduction), variables)[0]

        return head.create_estimator_spec(
            features=features, mode=mode, logits=logits, labels=labels, train_op_fn=train_op_fn
        )

    return model_fn


@public("compat.v2.estimator.BaselineClassifier", "python.estimator.canned.baseline.BaselineClassifierV2")
class BaselineClassifierV2(Estimator):
    """A classifier that says how often each class is, whatever the features are.

    Args:
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.keras.optimizers.Optimizer.
      config: a tf.estimator.RunConfig.
      loss_reduction: a tf.losses.Reduction.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl", config=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    ):  # fmt: skip
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(_model_fn(head, optimizer, weight_column, loss_reduction), model_dir, config)


@public("compat.v2.estimator.BaselineEstimator", "python.estimator.canned.baseline.BaselineEstimatorV2")
class BaselineEstimatorV2(Estimator):
    """A baseline model with any head.

    Args:
      head: a tf.estimator.Head, whose logits are the same for all examples.
      model_dir, optimizer, config: as for BaselineClassifierV2.
    """

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        super().__init__(_model_fn(head, optimizer), model_dir, config)


@public("compat.v2.estimator.BaselineRegressor", "python.estimator.canned.baseline.BaselineRegressorV2")
class BaselineRegressorV2(Estimator):
    """A regressor that says the mean of the labels, whatever the features are.

    Args:
      label_dimension: how many numbers the label of an example has.
      model_dir, weight_column, optimizer, config, loss_reduction: as for BaselineClassifierV2.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
    ):  # fmt: skip
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(_model_fn(head, optimizer), model_dir, config)

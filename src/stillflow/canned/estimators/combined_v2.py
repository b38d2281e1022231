"""Wide and deep models of TensorFlow 2: a linear and a deep model, whose logits are added."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.canned.estimators.combined import checked_columns
from stillflow.canned.estimators.dnn import layer_summary
from stillflow.canned.estimators.dnn_v2 import deep_part
from stillflow.canned.estimators.linear import check_features
from stillflow.canned.estimators.linear_v2 import linear_part
from stillflow.canned.estimators.optimizers import keras_optimizer_of
from stillflow.canned.heads.base import scaled_for_replicas
from stillflow.canned.heads.multi_class import binary_or_multi_class_head
from stillflow.canned.heads.regression import RegressionHead
from stillflow.estimator.estimator import Estimator
from stillflow.keras.losses.reductions import Reduction
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


def _linear_rate(count):
    return min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(count))


def _train_op_fn(parts, loss_reduction):
    """A function of the loss that returns the step of all parts: (optimizer, variables, other operations)."""

    def train_op_fn(loss):
        loss = scaled_for_replicas(loss, loss_reduction)
        steps = []
        for optimizer, variables, update_ops in parts:
            steps += [*optimizer.get_updates(loss, variables), *(update_ops or ())]
        return group(*steps)

    return train_op_fn


@public("python.estimator.canned.dnn_linear_combined._dnn_linear_combined_model_fn_v2")
def dnn_linear_combined_model_fn_v2(
    features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
    dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None, config=None,
    batch_norm=False, linear_sparse_combiner="sum", loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
):  # fmt: skip
    """The tf.estimator.EstimatorSpec of a wide and deep model.

    Args:
      features, labels, mode, config: as model functions have them.
      head: a tf.estimator.Head.
      others: as for DNNLinearCombinedClassifierV2.

    Raises ValueError without any column, and without hidden units for a deep part.
    """
    check_features(features)
    checked_columns(linear_feature_columns, dnn_feature_columns)
    is_training = mode == ModeKeys.TRAIN
    logits: list = []
    parts: list = []
    if dnn_feature_columns:
        optimizer = keras_optimizer_of(dnn_optimizer, _DNN_LEARNING_RATE) if is_training else None
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        deep, variables, update_ops = deep_part(
            head.logits_dimension, dnn_hidden_units, dnn_feature_columns, dnn_activation_fn, dnn_dropout, batch_norm,
            features, mode,
        )  # fmt: skip
        logits.append(deep)
        parts.append((optimizer, variables, update_ops))
    if linear_feature_columns:
        rate = _linear_rate(len(linear_feature_columns))
        optimizer = keras_optimizer_of(linear_optimizer, rate) if is_training else None
        linear, variables = linear_part(
            head.logits_dimension, linear_feature_columns, linear_sparse_combiner, features
        )
        layer_summary(linear, "linear")
        logits.append(linear)
        parts.append((optimizer, variables, None))
    if is_training:  # one of them counts the steps
        parts[0][0].iterations = get_or_create_global_step()
    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, train_op_fn=_train_op_fn(parts, loss_reduction),
        logits=logits[0] if len(logits) == 1 else logits[0] + logits[1],
    )  # fmt: skip


def _model_fn(head, **settings):
    def model_fn(features, labels, mode, config):
        return dnn_linear_combined_model_fn_v2(features, labels, mode, head, config=config, **settings)

    return model_fn


@public(
    "compat.v2.estimator.DNNLinearCombinedClassifier",
    "python.estimator.canned.dnn_linear_combined.DNNLinearCombinedClassifierV2",
)
class DNNLinearCombinedClassifierV2(Estimator):
    """A wide and deep classifier.

    Args:
      model_dir: the folder of its checkpoints.
      linear_feature_columns: dense and categorical columns of the linear part.
      linear_optimizer: a name, a function, or a tf.keras.optimizers.Optimizer for that.
      dnn_feature_columns: dense columns of the deep part.
      dnn_optimizer: a name, a function, or a tf.keras.optimizers.Optimizer for that.
      dnn_hidden_units: how many units each hidden layer has.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: the share of units that are dropped while it trains.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      config: a tf.estimator.RunConfig.
      warm_start_from: a checkpoint, or tf.estimator.WarmStartSettings.
      loss_reduction: a tf.losses.Reduction.
      batch_norm: whether hidden layers are normalized.
      linear_sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".

    Raises ValueError for other arguments, and without any column.
    """

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None, n_classes=2,
        weight_column=None, label_vocabulary=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, batch_norm=False, linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = _model_fn(
            binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction),
            linear_feature_columns=linear_feature_columns, linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns, dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout, batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner, loss_reduction=loss_reduction,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public(
    "compat.v2.estimator.DNNLinearCombinedEstimator",
    "python.estimator.canned.dnn_linear_combined.DNNLinearCombinedEstimatorV2",
)
class DNNLinearCombinedEstimatorV2(Estimator):
    """A wide and deep model with any head.

    Args:
      head: a tf.estimator.Head.
      others: as for DNNLinearCombinedClassifierV2.

    Raises ValueError without any column.
    """

    def __init__(
        self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None, config=None,
        linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = _model_fn(
            head, linear_feature_columns=linear_feature_columns, linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns, dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout,
            linear_sparse_combiner=linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config)


@public(
    "compat.v2.estimator.DNNLinearCombinedRegressor",
    "python.estimator.canned.dnn_linear_combined.DNNLinearCombinedRegressorV2",
)
class DNNLinearCombinedRegressorV2(Estimator):
    """A wide and deep regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      others: as for DNNLinearCombinedClassifierV2.

    Raises ValueError for other arguments, and without any column.
    """

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None,
        label_dimension=1, weight_column=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, batch_norm=False, linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        model_fn = _model_fn(
            RegressionHead(label_dimension, weight_column, loss_reduction),
            linear_feature_columns=linear_feature_columns, linear_optimizer=linear_optimizer,
            dnn_feature_columns=dnn_feature_columns, dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units,
            dnn_activation_fn=dnn_activation_fn, dnn_dropout=dnn_dropout, batch_norm=batch_norm,
            linear_sparse_combiner=linear_sparse_combiner, loss_reduction=loss_reduction,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

"""Wide and deep models: a linear and a deep model, whose logits are added (Cheng et al. 2016)."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.canned.estimators.dnn import dnn_logit_fn_builder, dnn_partitioner, layer_summary
from stillflow.canned.estimators.linear import check_features, linear_logit_fn_builder, linear_partitioner
from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.estimator.estimator import Estimator
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.default_graph import get_default_graph
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.global_step import get_global_step
from stillflow.variables.assignments import assign_add
from stillflow.variables.scope import variable_scope

_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


def checked_columns(linear_feature_columns, dnn_feature_columns):
    """All columns. Raises ValueError without any."""
    columns = [*(linear_feature_columns or []), *(dnn_feature_columns or [])]
    if not columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return columns


class _Parts:
    """The deep and the linear part of a model: their settings, and what they become in a graph."""

    def __init__(
        self, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
        dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
    ):  # fmt: skip
        self._linear_columns = linear_feature_columns
        self._linear_optimizer = linear_optimizer
        self._linear_sparse_combiner = linear_sparse_combiner
        self._dnn_columns = dnn_feature_columns
        self._dnn_optimizer = dnn_optimizer
        self._dnn_layers = dnn_hidden_units
        self._dnn_options = dnn_activation_fn, dnn_dropout
        self._input_layer_partitioner = input_layer_partitioner
        self._batch_norm = batch_norm

    def _deep(self, units, features, mode, config, partitioner):
        """(logits, optimizer, scope) of the deep part."""
        optimizer = optimizer_of(self._dnn_optimizer, learning_rate=_DNN_LEARNING_RATE)
        if not self._dnn_layers:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        values = tuple(features.values())
        with variable_scope("dnn", values=values, partitioner=dnn_partitioner(config)) as scope:
            logit_fn = dnn_logit_fn_builder(
                units, self._dnn_layers, self._dnn_columns, *self._dnn_options, partitioner, self._batch_norm
            )
            return logit_fn(features=features, mode=mode), optimizer, scope.name

    def _linear(self, units, features, partitioner):
        """(logits, optimizer, scope) of the linear part."""
        rate = min(_LINEAR_LEARNING_RATE, 1.0 / math.sqrt(len(self._linear_columns)))
        optimizer = optimizer_of(self._linear_optimizer, learning_rate=rate)
        with variable_scope("linear", values=tuple(features.values()), partitioner=partitioner) as scope:
            logits = linear_logit_fn_builder(units, self._linear_columns, self._linear_sparse_combiner)(features)
            layer_summary(logits, scope.name)
            return logits, optimizer, scope.name

    def model_fn(self, head):
        """The model function."""

        def model_fn(features, labels, mode, config):
            check_features(features)
            checked_columns(self._linear_columns, self._dnn_columns)
            partitioner = self._input_layer_partitioner or linear_partitioner(config)
            parts = []
            if self._dnn_columns:
                parts.append(self._deep(head.logits_dimension, features, mode, config, partitioner))
            if self._linear_columns:
                parts.append(self._linear(head.logits_dimension, features, partitioner))
            logits = parts[0][0] if len(parts) == 1 else parts[0][0] + parts[1][0]
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, train_op_fn=_train_op_fn(parts), logits=logits
            )

        return model_fn


def _train_op_fn(parts):
    def train_op_fn(loss):
        step = get_global_step()
        graph = get_default_graph()
        steps = [
            optimizer.minimize(loss, var_list=graph.get_collection(GraphKeys.TRAINABLE_VARIABLES, scope=scope))
            for _, optimizer, scope in parts
        ]
        with control_dependencies([group(*steps)]):
            return assign_add(step, 1).op

    return train_op_fn


@public("python.estimator.canned.dnn_linear_combined._dnn_linear_combined_model_fn")
def dnn_linear_combined_model_fn(
    features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
    dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None,
    input_layer_partitioner=None, config=None, batch_norm=False, linear_sparse_combiner="sum",
):  # fmt: skip
    """The tf.estimator.EstimatorSpec of a wide and deep model: arguments as of DNNLinearCombinedEstimator, and of a
    model function."""
    parts = _Parts(
        linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
        dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
    )  # fmt: skip
    return parts.model_fn(head)(features, labels, mode, config)


@public("estimator.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(Estimator):
    """A wide and deep classifier.

    Args:
      model_dir: the folder of its checkpoints.
      linear_feature_columns: dense and categorical columns of the linear part.
      linear_optimizer: a name, a function, or a tf.train.Optimizer for that.
      dnn_feature_columns: dense columns of the deep part.
      dnn_optimizer: a name, a function, or a tf.train.Optimizer for that.
      dnn_hidden_units: how many units each hidden layer has.
      dnn_activation_fn: of the hidden layers.
      dnn_dropout: the share of units that are dropped while it trains.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      input_layer_partitioner: splits the variables of columns.
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
        weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM, batch_norm=False, linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        parts = _Parts(
            linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
        )  # fmt: skip
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(parts.model_fn(head), model_dir, config, warm_start_from=warm_start_from)


@public("estimator.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A wide and deep model with any head.

    Args:
      head: a head.
      others: as for DNNLinearCombinedClassifier.

    Raises ValueError without any column.
    """

    def __init__(
        self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None,
        input_layer_partitioner=None, config=None, linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        parts = _Parts(
            linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, False, linear_sparse_combiner,
        )  # fmt: skip
        super().__init__(parts.model_fn(head), model_dir, config)


@public("estimator.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(Estimator):
    """A wide and deep regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      others: as for DNNLinearCombinedClassifier.

    Raises ValueError for other arguments, and without any column.
    """

    def __init__(
        self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
        dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=ops.relu, dnn_dropout=None,
        label_dimension=1, weight_column=None, input_layer_partitioner=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM, batch_norm=False, linear_sparse_combiner="sum",
    ):  # fmt: skip
        self._feature_columns = checked_columns(linear_feature_columns, dnn_feature_columns)
        parts = _Parts(
            linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, input_layer_partitioner, batch_norm, linear_sparse_combiner,
        )  # fmt: skip
        head = regression_head(weight_column, label_dimension, loss_reduction)
        super().__init__(parts.model_fn(head), model_dir, config, warm_start_from=warm_start_from)

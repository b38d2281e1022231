"""Deep models over feature columns: fully connected layers."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.canned.estimators.linear import check_features, linear_partitioner
from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.composites import summaries
from stillflow.composites.statistics import zero_fraction
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.columns import is_feature_column_v2
from stillflow.feature_columns.input_layer import InputLayer
from stillflow.feature_columns.layers import DenseFeatures
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.layers.normalization import BatchNormalization
from stillflow.layers.plain import Dense, Dropout
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.variables.initializers import GlorotUniform
from stillflow.variables.partitioned_variables import min_max_variable_partitioner
from stillflow.variables.scope import variable_scope

_LEARNING_RATE = 0.05


def layer_summary(value, tag):
    """Summaries of what a layer returns."""
    summaries.scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    summaries.histogram(f"{tag}/activation", value)


@public("estimator.experimental.dnn_logit_fn_builder", "contrib.estimator.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
):
    """A function of {name: feature} and of a mode that returns the logits [batch, units] of a deep model.

    Args:
      units: how many logits there are for each example.
      hidden_units: how many units each hidden layer has.
      feature_columns: dense columns.
      activation_fn: of the hidden layers.
      dropout: the share of units that are dropped while it trains, or None.
      input_layer_partitioner: splits the variables of columns.
      batch_norm: whether hidden layers are normalized.

    Raises ValueError for units that are no int.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")

    def dnn_logit_fn(features, mode):
        model = _Deep(
            units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm
        )
        return model(features, mode)

    return dnn_logit_fn


class _Deep:
    """The layers of a deep model, which are made before they are called, as their scopes tell."""

    def __init__(
        self, units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner, batch_norm,
        note_inputs=None,
    ):  # fmt: skip
        if is_feature_column_v2(feature_columns):
            self._input_layer: Any = DenseFeatures(feature_columns=feature_columns, name="input_layer")
        else:
            self._input_layer = InputLayer(feature_columns, name="input_layer", create_scope_now=False)
        self._feature_columns = feature_columns
        self._note_inputs = note_inputs
        self._partitioner = input_layer_partitioner
        self._hidden = []
        for number, width in enumerate(hidden_units):
            with variable_scope(f"hiddenlayer_{number}") as scope:
                dense = _dense(width, activation_fn, scope)
                drop = None if dropout is None else Dropout(rate=dropout)
                norm = None
                if batch_norm:
                    name = f"batchnorm_{number}"
                    norm = _as_of_keras(BatchNormalization(momentum=0.999, trainable=True, name=name, _scope=name))
                self._hidden.append((scope.name, dense, drop, norm))
        with variable_scope("logits") as scope:
            self._logits = scope.name, _dense(units, None, scope)

    def __call__(self, features, mode):
        is_training = mode == ModeKeys.TRAIN
        # TensorFlow's is a Keras model, which opens a scope of its own, and leaves it again for the one around it.
        with name_scope("dnn"), name_scope(get_default_graph().get_name_scope().rsplit("/", 1)[0] + "/"):
            with variable_scope("input_from_feature_columns", partitioner=self._partitioner):
                tensors: dict = {}
                net = self._input_layer(features, cols_to_output_tensors=tensors)
            if self._note_inputs is not None:
                self._note_inputs(features, self._feature_columns, tensors)
            for name, dense, drop, norm in self._hidden:
                net = dense(net)
                if drop is not None and is_training:
                    net = drop(net, training=True)
                if norm is not None:
                    net = norm(net, training=is_training)
                layer_summary(net, name)
            name, dense = self._logits
            logits = dense(net)
            layer_summary(logits, name)
            return logits


def _dense(units, activation, scope):
    layer = Dense(units, activation=activation, kernel_initializer=GlorotUniform(), name=scope, _scope=scope)
    return _as_of_keras(layer)


def _as_of_keras(layer):
    """The layer, with resource variables, as those of a Keras model have, which TensorFlow's is."""
    layer._use_resource_variables = True
    return layer


def dnn_partitioner(config):
    """How variables of layers are split among the parameter servers of a RunConfig."""
    return min_max_variable_partitioner(max_partitions=config.num_ps_replicas if config else 0)


@public("python.estimator.canned.dnn._dnn_model_fn")
def dnn_model_fn(
    features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad", activation_fn=ops.relu,
    dropout=None, input_layer_partitioner=None, config=None, use_tpu=False, batch_norm=False,
    note_inputs=None,
):  # fmt: skip
    """The tf.estimator.EstimatorSpec of a deep model: arguments as of DNNEstimator, and of a model function.

    `note_inputs` is called with features, columns and {column: its tensor}.
    """
    opt = optimizer_of(optimizer, learning_rate=_LEARNING_RATE)
    check_features(features)
    with variable_scope("dnn", values=tuple(features.values()), partitioner=dnn_partitioner(config)):
        split = input_layer_partitioner or linear_partitioner(config)
        model = _Deep(
            head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout, split, batch_norm,
            note_inputs,
        )  # fmt: skip
        logits = model(features, mode)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=opt, logits=logits)


def _model_fn(
    head, hidden_units, feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner, batch_norm
):
    def model_fn(features, labels, mode, config):
        return dnn_model_fn(
            features, labels, mode, head, hidden_units, tuple(feature_columns or []), optimizer, activation_fn,
            dropout, input_layer_partitioner, config, batch_norm=batch_norm,
        )  # fmt: skip

    return model_fn


@public("estimator.DNNClassifier")
class DNNClassifier(Estimator):
    """A deep classifier.

    Args:
      hidden_units: how many units each hidden layer has.
      feature_columns: dense columns.
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.train.Optimizer.
      activation_fn: of the hidden layers.
      dropout: the share of units that are dropped while it trains.
      input_layer_partitioner: splits the variables of columns.
      config: a tf.estimator.RunConfig.
      warm_start_from: a checkpoint, or tf.estimator.WarmStartSettings.
      loss_reduction: a tf.losses.Reduction.
      batch_norm: whether hidden layers are normalized.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Adagrad", activation_fn=ops.relu, dropout=None, input_layer_partitioner=None, config=None,
        warm_start_from=None, loss_reduction=Reduction.SUM, batch_norm=False,
    ):  # fmt: skip
        model_fn = _model_fn(
            classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction), hidden_units,
            feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner, batch_norm,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("estimator.DNNEstimator")
class DNNEstimator(Estimator):
    """A deep model with any head.

    Args:
      head: a head.
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, input_layer_partitioner, config,
        warm_start_from, batch_norm: as for DNNClassifier.
    """

    def __init__(
        self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=ops.relu,
        dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None, batch_norm=False,
    ):  # fmt: skip
        model_fn = _model_fn(
            head, hidden_units, feature_columns, optimizer, activation_fn, dropout, input_layer_partitioner,
            batch_norm,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("estimator.DNNRegressor")
class DNNRegressor(Estimator):
    """A deep regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      hidden_units, feature_columns, model_dir, weight_column, optimizer, activation_fn, dropout,
        input_layer_partitioner, config, warm_start_from, loss_reduction, batch_norm: as for DNNClassifier.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
        optimizer="Adagrad", activation_fn=ops.relu, dropout=None, input_layer_partitioner=None, config=None,
        warm_start_from=None, loss_reduction=Reduction.SUM, batch_norm=False,
    ):  # fmt: skip
        model_fn = _model_fn(
            regression_head(weight_column, label_dimension, loss_reduction), hidden_units, feature_columns,
            optimizer, activation_fn, dropout, input_layer_partitioner, batch_norm,
        )  # fmt: skip
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

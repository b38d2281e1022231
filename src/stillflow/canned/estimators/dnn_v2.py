"""Deep models of TensorFlow 2: a Keras model, a head of tf.estimator.Head's kind, an optimizer of tf.keras."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.estimators.dnn import layer_summary
from stillflow.canned.estimators.linear import check_features
from stillflow.canned.estimators.optimizers import keras_optimizer_of
from stillflow.canned.heads.multi_class import binary_or_multi_class_head
from stillflow.canned.heads.regression import RegressionHead
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.columns import is_feature_column_v2
from stillflow.feature_columns.dense_features_v2 import DenseFeaturesV2
from stillflow.graph.name_scope import name_scope
from stillflow.keras.engine.model import Model
from stillflow.keras.layers.normalization_v2 import BatchNormalizationV2
from stillflow.keras.layers.plain import Dropout
from stillflow.keras.losses.reductions import Reduction
from stillflow.layers.core.dense import Dense
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step
from stillflow.variables.initializers import GlorotUniform


def check_columns(feature_columns):
    """Raises ValueError for columns of the older spelling."""
    if not is_feature_column_v2(feature_columns):
        raise ValueError(
            "Received a feature column from TensorFlow v1, but this is a TensorFlow v2 Estimator. Please either "
            "use v2 feature columns (accessible via tf.feature_column.* in TF 2.x) with this Estimator, or switch to "
            "a v1 Estimator for use with v1 feature columns (accessible via tf.compat.v1.estimator.* and "
            "tf.compat.v1.feature_column.*, respectively."
        )


@public("python.estimator.canned.dnn._DNNModelV2")
class DeepModel(Model):
    """The layers of a deep model.

    Args:
      units: how many logits there are for each example.
      hidden_units: how many units each hidden layer has.
      feature_columns: dense columns.
      activation_fn: of the hidden layers.
      dropout: the share of units that are dropped while it trains, or None.
      batch_norm: whether hidden layers are normalized.
      name: the model's name.

    Raises ValueError for columns of the older spelling.
    """

    def __init__(self, units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        with name_scope("input_from_feature_columns") as scope:
            check_columns(feature_columns)
            self._input_layer = DenseFeaturesV2(feature_columns=feature_columns, name=scope + "input_layer")
        self._hidden_layers = []
        self._dropout_layers = []
        self._batch_norm_layers = []
        self._hidden_layer_names = []
        for number, width in enumerate(hidden_units):
            with name_scope(f"hiddenlayer_{number}") as scope:
                name = scope.rstrip("/")
                self._hidden_layer_names.append(name)
                self._hidden_layers.append(_dense(width, activation_fn, name))
                if dropout is not None:
                    self._dropout_layers.append(Dropout(rate=dropout))
                if batch_norm:
                    name = f"{name}/batchnorm_{number}"
                    self._batch_norm_layers.append(BatchNormalizationV2(momentum=0.999, trainable=True, name=name))
        with name_scope("logits") as scope:
            self._logits_layer = _dense(units, None, scope.rstrip("/"))

    def call(self, features, mode):  # type: ignore[override]
        """The logits [batch, units] of {name: feature} in a mode."""
        is_training = mode == ModeKeys.TRAIN
        net = self._input_layer(features)
        for number, layer in enumerate(self._hidden_layers):
            net = layer(net)
            if self._dropout_layers and is_training:
                net = self._dropout_layers[number](net, training=True)
            if self._batch_norm_layers:
                net = self._batch_norm_layers[number](net, training=is_training)
            layer_summary(net, self._hidden_layer_names[number])
        logits = self._logits_layer(net)
        layer_summary(logits, self._logits_layer.name)
        return logits


def _dense(units, activation, name):
    return Dense(units=units, activation=activation, kernel_initializer=GlorotUniform(), name=name)


def _check_units(units):
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")


@public("python.estimator.canned.dnn.dnn_logit_fn_builder_v2")
def dnn_logit_fn_builder_v2(units, hidden_units, feature_columns, activation_fn, dropout, batch_norm):
    """A function of {name: feature} and of a mode that returns logits [batch, units]: arguments as of DeepModel."""
    _check_units(units)

    def dnn_logit_fn(features, mode):
        model = DeepModel(units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn")
        return model(features, mode)

    return dnn_logit_fn


@public("python.estimator.canned.dnn._dnn_model_fn_builder_v2")
def deep_part(units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, features, mode):
    """(logits, the variables to be trained, operations that run with each step) of a deep model.

    Raises ValueError for units that are no int, and for columns of the older spelling.
    """
    _check_units(units)
    model = DeepModel(units, hidden_units, feature_columns, activation_fn, dropout, batch_norm, name="dnn")
    logits = model(features, mode)
    return logits, model.trainable_variables, model.updates


@public("python.estimator.canned.dnn.dnn_model_fn_v2")
def dnn_model_fn_v2(
    features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad", activation_fn=ops.relu,
    dropout=None, config=None, use_tpu=False, batch_norm=False,
):  # fmt: skip
    """The tf.estimator.EstimatorSpec of a deep model: arguments as of DNNEstimatorV2, and of a model function."""
    check_features(features)
    logits, variables, update_ops = deep_part(
        head.logits_dimension, hidden_units, feature_columns, activation_fn, dropout, batch_norm, features, mode
    )
    if mode == ModeKeys.TRAIN:
        optimizer = keras_optimizer_of(optimizer)
        optimizer.iterations = get_or_create_global_step()
    return head.create_estimator_spec(
        features=features, mode=mode, labels=labels, optimizer=optimizer, logits=logits,
        trainable_variables=variables, update_ops=update_ops,
    )  # fmt: skip


def _model_fn(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm):
    def model_fn(features, labels, mode, config):
        return dnn_model_fn_v2(
            features, labels, mode, head, hidden_units, tuple(feature_columns or []), optimizer, activation_fn,
            dropout, config, batch_norm=batch_norm,
        )  # fmt: skip

    return model_fn


@public("compat.v2.estimator.DNNClassifier", "python.estimator.canned.dnn.DNNClassifierV2")
class DNNClassifierV2(Estimator):
    """A deep classifier.

    Args:
      hidden_units: how many units each hidden layer has.
      feature_columns: dense columns.
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.keras.optimizers.Optimizer.
      activation_fn: of the hidden layers.
      dropout: the share of units that are dropped while it trains.
      config: a tf.estimator.RunConfig.
      warm_start_from: a checkpoint, or tf.estimator.WarmStartSettings.
      loss_reduction: a tf.losses.Reduction.
      batch_norm: whether hidden layers are normalized.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Adagrad", activation_fn=ops.relu, dropout=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, batch_norm=False,
    ):  # fmt: skip
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _model_fn(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("compat.v2.estimator.DNNEstimator", "python.estimator.canned.dnn.DNNEstimatorV2")
class DNNEstimatorV2(Estimator):
    """A deep model with any head.

    Args:
      head: a tf.estimator.Head.
      hidden_units, feature_columns, model_dir, optimizer, activation_fn, dropout, config, warm_start_from,
        batch_norm: as for DNNClassifierV2.
    """

    def __init__(
        self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=ops.relu,
        dropout=None, config=None, warm_start_from=None, batch_norm=False,
    ):  # fmt: skip
        model_fn = _model_fn(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("compat.v2.estimator.DNNRegressor", "python.estimator.canned.dnn.DNNRegressorV2")
class DNNRegressorV2(Estimator):
    """A deep regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      hidden_units, feature_columns, model_dir, weight_column, optimizer, activation_fn, dropout, config,
        warm_start_from, loss_reduction, batch_norm: as for DNNClassifierV2.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
        optimizer="Adagrad", activation_fn=ops.relu, dropout=None, config=None, warm_start_from=None,
        loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, batch_norm=False,
    ):  # fmt: skip
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = _model_fn(head, hidden_units, feature_columns, optimizer, activation_fn, dropout, batch_norm)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

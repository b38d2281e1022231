"""tf.contrib.learn's models: linear ones, deep networks, and both together."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.layers.column_inputs import parse_feature_columns_from_examples
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import multi_class_head, regression_head
from stillflow.contrib.learn.modes import PredictionKey
from stillflow.contrib.learn.networks import combined_model_fn, deep_model_fn, linear_model_fn
from stillflow.contrib.learn.old_exports import classification_signature_fn_with_prob, regression_signature_fn
from stillflow.names import public
from stillflow.variables.partitioned_variables import min_max_variable_partitioner

# The parameters that hold columns.
_COLUMNS = ("feature_columns", "linear_feature_columns", "dnn_feature_columns")


class _Model(Estimator):
    """A model whose `predict` gives one kind of predictions unless it is told otherwise."""

    # What makes the signatures of exports, and the prediction that they are of.
    _exported: tuple = (None, None)

    def _of_key(self, key, x, input_fn, batch_size, as_iterable):
        found = Estimator.predict(
            self, x=x, input_fn=input_fn, batch_size=batch_size, outputs=[key], as_iterable=as_iterable
        )
        return (row[key] for row in found) if as_iterable else found[key]

    def export(
        self, export_dir, input_fn=None, input_feature_key=None, use_deprecated_input_fn=True, signature_fn=None,
        default_batch_size=1, exports_to_keep=None,
    ):  # fmt: skip
        """Writes what makes the model's kind of predictions of Examples that have its columns; see Estimator."""
        columns = [column for name in _COLUMNS for column in self.params.get(name) or ()]
        default_signature_fn, prediction_key = self._exported
        return super().export(
            export_dir,
            input_fn=input_fn or (lambda _, examples: parse_feature_columns_from_examples(examples, columns)),
            input_feature_key=input_feature_key,
            use_deprecated_input_fn=use_deprecated_input_fn,
            signature_fn=signature_fn or default_signature_fn,
            prediction_key=prediction_key,
            default_batch_size=default_batch_size,
            exports_to_keep=exports_to_keep,
        )


class _Classifier(_Model):
    _exported = (classification_signature_fn_with_prob, PredictionKey.PROBABILITIES)

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The classes, or {name: array} of the predictions with the names `outputs`. See Estimator."""
        if not outputs:
            return self.predict_classes(x, input_fn, batch_size, as_iterable)
        return super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable
        )

    def predict_classes(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The classes of examples, one after the other or as an array."""
        found = self._of_key(PredictionKey.CLASSES, x, input_fn, batch_size, as_iterable)
        return found if as_iterable else found.reshape(-1)

    def predict_proba(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The probabilities of the classes of examples, one after the other or as an array."""
        return self._of_key(PredictionKey.PROBABILITIES, x, input_fn, batch_size, as_iterable)


class _Regressor(_Model):
    _exported = (regression_signature_fn, PredictionKey.SCORES)

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The numbers, or {name: array} of the predictions with the names `outputs`. See Estimator."""
        if not outputs:
            return self.predict_scores(x, input_fn, batch_size, as_iterable)
        return super().predict(
            x=x, input_fn=input_fn, batch_size=batch_size, outputs=outputs, as_iterable=as_iterable
        )

    def predict_scores(self, x=None, input_fn=None, batch_size=None, as_iterable=True):
        """The numbers of examples, one after the other or as an array."""
        return self._of_key(PredictionKey.SCORES, x, input_fn, batch_size, as_iterable)


class _Linear(_Model):
    """Linear models have one matrix of weights for each column."""

    @property
    def weights_(self):
        """{name of a variable: weights}, without the bias and what optimizers keep."""
        names = self.get_variable_names()
        kept = ("/Ftrl", "/Ftrl_1", "/Adagrad", "/Adam", "/Adam_1", "/Momentum", "/RMSProp")
        own = [n for n in names if n.startswith("linear/") and n != "linear/bias_weight" and not n.endswith(kept)]
        found = {name: self.get_variable_value(name) for name in own}
        return next(iter(found.values())) if len(found) == 1 else found

    @property
    def bias_(self):
        """The bias."""
        return self.get_variable_value("linear/bias_weight")


def _columns(linear, deep):
    """Both as tuples. Raises ValueError if there are none."""
    linear, deep = tuple(linear or []), tuple(deep or [])
    if not linear + deep:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")
    return linear, deep


def _slices(min_slice_size, config):
    if min_slice_size is None:
        return None
    replicas = config.num_ps_replicas if config else 0
    return min_max_variable_partitioner(max_partitions=replicas, min_slice_size=min_slice_size)


@public("contrib.learn.DNNEstimator")
class DNNEstimator(Estimator):
    """A deep network with a head.

    Args:
      head: what makes losses and predictions of the logits.
      hidden_units: how many units each hidden layer has.
      feature_columns: of the input: of tf.contrib.layers, or of tf.feature_column.
      model_dir, config, feature_engineering_fn: see Estimator.
      optimizer: one, a name, or a function that makes one; Adagrad with the rate 0.05 by default.
      activation_fn: a function, or "relu", "tanh" or "sigmoid".
      dropout: the part of units that training drops, or None.
      gradient_clip_norm: the most that the norm of all gradients may be, or None.
      embedding_lr_multipliers: {embedding column: by how much its gradient is multiplied}.
      input_layer_min_slice_size: bytes of a part of the input's variables, with parameter servers.
    """

    def __init__(
        self,
        head,
        hidden_units,
        feature_columns,
        model_dir=None,
        optimizer=None,
        activation_fn=ops.relu,
        dropout=None,
        gradient_clip_norm=None,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
    ):
        params = {
            "head": head,
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or []),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(deep_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.DNNClassifier")
class DNNClassifier(_Classifier):
    """A deep network that tells classes. Args: see DNNEstimator and multi_class_head."""

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        optimizer=None,
        activation_fn=ops.relu,
        dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        label_keys=None,
    ):
        params = {
            "head": multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or []),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(deep_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.DNNRegressor")
class DNNRegressor(_Regressor):
    """A deep network that tells numbers. Args: see DNNEstimator and regression_head."""

    def __init__(
        self,
        hidden_units,
        feature_columns,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        activation_fn=ops.relu,
        dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        label_dimension=1,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
    ):
        params = {
            "head": regression_head(
                label_dimension=label_dimension,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
            ),
            "hidden_units": hidden_units,
            "feature_columns": tuple(feature_columns or []),
            "optimizer": optimizer,
            "activation_fn": activation_fn,
            "dropout": dropout,
            "gradient_clip_norm": gradient_clip_norm,
            "embedding_lr_multipliers": embedding_lr_multipliers,
            "input_layer_min_slice_size": input_layer_min_slice_size,
        }
        super().__init__(deep_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.LinearEstimator")
class LinearEstimator(_Linear):
    """A linear model with a head.

    Args:
      feature_columns: of the input: of tf.contrib.layers, or of tf.feature_column.
      head: what makes losses and predictions of the logits.
      model_dir, config, feature_engineering_fn: see Estimator.
      weight_column_name: not used; the head has one.
      optimizer: one, a name, or a function that makes one; Ftrl by default, whose rate is 0.2, or 1 / sqrt(columns)
        if that is less.
      gradient_clip_norm: the most that the norm of all gradients may be, or None.
    """

    def __init__(
        self,
        feature_columns,
        head,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        config=None,
        feature_engineering_fn=None,
    ):
        params = {
            "head": head,
            "feature_columns": tuple(feature_columns),
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
        }
        super().__init__(linear_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.LinearClassifier")
class LinearClassifier(_Linear, _Classifier):
    """A linear model that tells classes. Args: see LinearEstimator and multi_class_head."""

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        label_keys=None,
    ):
        params = {
            "head": multi_class_head(
                n_classes,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
                label_keys=label_keys,
            ),
            "feature_columns": tuple(feature_columns),
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
        }
        super().__init__(linear_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.LinearRegressor")
class LinearRegressor(_Linear, _Regressor):
    """A linear model that tells numbers. Args: see LinearEstimator and regression_head."""

    def __init__(
        self,
        feature_columns,
        model_dir=None,
        weight_column_name=None,
        optimizer=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        label_dimension=1,
        config=None,
        feature_engineering_fn=None,
    ):
        params = {
            "head": regression_head(
                label_dimension=label_dimension,
                weight_column_name=weight_column_name,
                enable_centered_bias=enable_centered_bias,
            ),
            "feature_columns": tuple(feature_columns),
            "optimizer": optimizer,
            "gradient_clip_norm": gradient_clip_norm,
        }
        super().__init__(linear_model_fn, model_dir, config, params, feature_engineering_fn)


def _combined_params(
    head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
    dnn_activation_fn, dnn_dropout, gradient_clip_norm, embedding_lr_multipliers, input_layer_partitioner,
    fix_global_step_increment_bug,
):  # fmt: skip
    """What combined_model_fn is told. Raises ValueError without columns."""
    linear, deep = _columns(linear_feature_columns, dnn_feature_columns)
    return {
        "head": head,
        "linear_feature_columns": linear,
        "linear_optimizer": linear_optimizer,
        "dnn_feature_columns": deep,
        "dnn_optimizer": dnn_optimizer,
        "dnn_hidden_units": dnn_hidden_units,
        "dnn_activation_fn": dnn_activation_fn,
        "dnn_dropout": dnn_dropout,
        "gradient_clip_norm": gradient_clip_norm,
        "embedding_lr_multipliers": embedding_lr_multipliers,
        "input_layer_partitioner": input_layer_partitioner,
        "fix_global_step_increment_bug": fix_global_step_increment_bug,
    }


@public("contrib.learn.DNNLinearCombinedEstimator")
class DNNLinearCombinedEstimator(Estimator):
    """A linear model and a deep network, whose logits are added, with a head.

    Args:
      head: what makes losses and predictions of the logits.
      linear_feature_columns, linear_optimizer: see LinearEstimator.
      dnn_feature_columns, dnn_optimizer, dnn_hidden_units, dnn_activation_fn, dnn_dropout: see DNNEstimator.
      model_dir, gradient_clip_norm, config, feature_engineering_fn, embedding_lr_multipliers: see DNNEstimator.
      fix_global_step_increment_bug: whether a step counts once; else each of the two parts counts.
      input_layer_partitioner: of the network's input.

    Raises ValueError without columns.
    """

    def __init__(
        self,
        head,
        model_dir=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=None,
        dnn_dropout=None,
        gradient_clip_norm=None,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        fix_global_step_increment_bug=False,
        input_layer_partitioner=None,
    ):
        params = _combined_params(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, gradient_clip_norm, embedding_lr_multipliers, input_layer_partitioner,
            fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.DNNLinearCombinedClassifier")
class DNNLinearCombinedClassifier(_Classifier):
    """A linear model and a deep network that tell classes. See DNNLinearCombinedEstimator and multi_class_head."""

    def __init__(
        self,
        model_dir=None,
        n_classes=2,
        weight_column_name=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=ops.relu,
        dnn_dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        label_keys=None,
        fix_global_step_increment_bug=False,
    ):
        head = multi_class_head(
            n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
            label_keys=label_keys,
        )
        params = _combined_params(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, gradient_clip_norm, embedding_lr_multipliers,
            _slices(input_layer_min_slice_size, config), fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)


@public("contrib.learn.DNNLinearCombinedRegressor")
class DNNLinearCombinedRegressor(_Regressor):
    """A linear model and a deep network that tell numbers. See DNNLinearCombinedEstimator and regression_head."""

    def __init__(
        self,
        model_dir=None,
        weight_column_name=None,
        linear_feature_columns=None,
        linear_optimizer=None,
        dnn_feature_columns=None,
        dnn_optimizer=None,
        dnn_hidden_units=None,
        dnn_activation_fn=ops.relu,
        dnn_dropout=None,
        gradient_clip_norm=None,
        enable_centered_bias=False,
        label_dimension=1,
        config=None,
        feature_engineering_fn=None,
        embedding_lr_multipliers=None,
        input_layer_min_slice_size=None,
        fix_global_step_increment_bug=False,
    ):
        head = regression_head(
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=enable_centered_bias,
        )
        params = _combined_params(
            head, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer, dnn_hidden_units,
            dnn_activation_fn, dnn_dropout, gradient_clip_norm, embedding_lr_multipliers,
            _slices(input_layer_min_slice_size, config), fix_global_step_increment_bug,
        )  # fmt: skip
        super().__init__(combined_model_fn, model_dir, config, params, feature_engineering_fn)

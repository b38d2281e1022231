"""Linear models of TensorFlow 2: a head of tf.estimator.Head's kind, an optimizer of tf.keras."""

from __future__ import annotations

import math

from stillflow.canned.estimators.dnn_v2 import check_columns
from stillflow.canned.estimators.linear import check_features, summarize_parts, zero_share
from stillflow.canned.estimators.optimizers import keras_optimizer_of
from stillflow.canned.heads.multi_class import binary_or_multi_class_head
from stillflow.canned.heads.regression import RegressionHead
from stillflow.canned.linear_optimizer.linear_sdca import LinearSDCA, check_sdca, sdca_spec
from stillflow.composites import summaries
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.layers import LinearModel
from stillflow.keras.losses.reductions import Reduction
from stillflow.keras.optimizers.by_squares import Ftrl
from stillflow.names import public
from stillflow.saver.saved_model.modes import EstimatorModeKeys as ModeKeys
from stillflow.training.global_step import get_or_create_global_step

_LEARNING_RATE = 0.2


@public("python.estimator.canned.linear._linear_model_fn_builder_v2")
def linear_part(units, feature_columns, sparse_combiner="sum", features=None):
    """(logits, the variables to be trained) of a linear model.

    Raises ValueError for columns of the older spelling.
    """
    check_columns(feature_columns)
    model = LinearModel(feature_columns, units=units, sparse_combiner=sparse_combiner, name="linear/linear_model")
    logits = model(features)
    if units > 1:
        summaries.histogram("bias", model.bias)
    else:
        summaries.scalar("bias", model.bias[0])
    weights = [variable for variable in model.variables if variable is not model.bias]
    summaries.scalar("fraction_of_zero_weights", zero_share(weights))
    return logits, model.variables


def _default_optimizer(feature_columns):
    return Ftrl(learning_rate=min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns))))


def _model_fn(head, feature_columns, optimizer, sparse_combiner):
    feature_columns = tuple(feature_columns or [])

    def model_fn(features, labels, mode, config):
        check_features(features)
        if isinstance(optimizer, LinearSDCA):
            return sdca_spec(
                features, labels, mode, head, feature_columns, optimizer, summarize_parts, "linear/linear_model"
            )
        logits, variables = linear_part(head.logits_dimension, feature_columns, sparse_combiner, features)
        opt = optimizer
        if mode == ModeKeys.TRAIN:
            opt = keras_optimizer_of(optimizer or _default_optimizer(feature_columns), _LEARNING_RATE)
            opt.iterations = get_or_create_global_step()
        return head.create_estimator_spec(
            features=features, mode=mode, labels=labels, optimizer=opt, trainable_variables=variables, logits=logits
        )

    return model_fn


@public("compat.v2.estimator.LinearClassifier", "python.estimator.canned.linear.LinearClassifierV2")
class LinearClassifierV2(Estimator):
    """A linear classifier.

    Args:
      feature_columns: dense and categorical columns.
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, a tf.keras.optimizers.Optimizer, or a tf.estimator.experimental.LinearSDCA.
      config: a tf.estimator.RunConfig.
      warm_start_from: a checkpoint, or tf.estimator.WarmStartSettings.
      loss_reduction: a tf.losses.Reduction.
      sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Ftrl", config=None, warm_start_from=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
        sparse_combiner="sum",
    ):  # fmt: skip
        check_sdca(
            optimizer, feature_columns, sparse_combiner, n_classes <= 2,
            "LinearSDCA cannot be used in a multi-class setting.",
        )  # fmt: skip
        head = binary_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _model_fn(head, feature_columns, optimizer, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("compat.v2.estimator.LinearEstimator", "python.estimator.canned.linear.LinearEstimatorV2")
class LinearEstimatorV2(Estimator):
    """A linear model with any head.

    Args:
      head: a tf.estimator.Head.
      feature_columns, model_dir, optimizer, config, sparse_combiner: as for LinearClassifierV2.
    """

    def __init__(
        self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, sparse_combiner="sum"
    ):  # fmt: skip
        super().__init__(_model_fn(head, feature_columns, optimizer, sparse_combiner), model_dir, config)


@public("compat.v2.estimator.LinearRegressor", "python.estimator.canned.linear.LinearRegressorV2")
class LinearRegressorV2(Estimator):
    """A linear regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      feature_columns, model_dir, weight_column, optimizer, config, warm_start_from, loss_reduction,
        sparse_combiner: as for LinearClassifierV2.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        warm_start_from=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, sparse_combiner="sum",
    ):  # fmt: skip
        check_sdca(
            optimizer, feature_columns, sparse_combiner, label_dimension <= 1,
            "LinearSDCA can only be used with one-dimensional label.",
        )  # fmt: skip
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        model_fn = _model_fn(head, feature_columns, optimizer, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

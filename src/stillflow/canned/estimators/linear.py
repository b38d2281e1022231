"""Linear models over feature columns."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.canned.estimators.optimizers import optimizer_of
from stillflow.canned.graph_heads.multi_class import classifier_head
from stillflow.canned.graph_heads.regression import regression_head
from stillflow.canned.linear_optimizer.linear_sdca import LinearSDCA, check_sdca, sdca_spec
from stillflow.composites import summaries
from stillflow.composites.statistics import zero_fraction
from stillflow.estimator.estimator import Estimator
from stillflow.feature_columns.columns import is_feature_column_v2
from stillflow.feature_columns.layers import LinearModel
from stillflow.feature_columns.linear_model import LinearModel as OldLinearModel
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.training.ftrl import FtrlOptimizer
from stillflow.variables.partitioned_variables import PartitionedVariable, min_max_variable_partitioner
from stillflow.variables.scope import variable_scope

_LEARNING_RATE = 0.2
_LEAST_SLICE_BYTES = 64 << 20  # below that a variable is not worth splitting among parameter servers


def _parts(variables):
    """The variables, those that are partitioned as their parts."""
    return [
        part
        for variable in variables
        for part in (variable if isinstance(variable, (PartitionedVariable, list)) else [variable])
    ]


@public("python.estimator.canned.linear._compute_fraction_of_zero")
def zero_share(variables):
    """The share of elements that are 0 in all variables together."""
    with name_scope("zero_fraction"):
        variables = nest.flatten(variables)
        with name_scope("total_size"):
            sizes = [ops.size(variable, out_type=dtypes.int64) for variable in variables]
            total = ops.add_n(sizes)
        with name_scope("total_zero"):
            zeros = ops.add_n([_zero_count(*pair) for pair in zip(variables, sizes, strict=True)])
        with name_scope("compute"):
            fraction = zeros / ops.cast(total, dtypes.float32, name="float32_size")
        return ops.identity(fraction, name="zero_fraction_or_nan")


def _zero_count(variable, size):
    is_empty = ops.equal(size, ops.constant(0, dtype=dtypes.int64))
    return cond(
        is_empty,
        true_fn=lambda: ops.constant(0, dtype=dtypes.float32),
        false_fn=lambda: zero_fraction(variable) * ops.to_float(size),
        name="zero_count",
    )


@public("estimator.experimental.linear_logit_fn_builder", "contrib.estimator.linear_logit_fn_builder")
def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """A function of {name: feature} that returns the logits [batch, units] of a linear model.

    Args:
      units: how many logits there are for each example.
      feature_columns: dense and categorical columns.
      sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".
    """

    def linear_logit_fn(features):
        logits, weights, bias = _linear_model(features, feature_columns, units, sparse_combiner)
        if units > 1:
            summaries.histogram("bias", bias)
        else:
            summaries.scalar("bias", bias[0][0])
        summaries.scalar("fraction_of_zero_weights", zero_share(_parts(weights)))
        return logits

    return linear_logit_fn


def summarize_parts(model):
    """Summaries of the bias and of the weights of a model with one logit."""
    summaries.scalar("bias", _parts([model.bias])[0][0])
    weights = [variable for variable in model.variables if variable is not model.bias]
    summaries.scalar("fraction_of_zero_weights", zero_share(_parts(weights)))


def _linear_model(features, feature_columns, units, sparse_combiner):
    """(logits, weights, the parts of the bias)."""
    settings = {"units": units, "sparse_combiner": sparse_combiner, "name": "linear_model"}
    if is_feature_column_v2(feature_columns):
        model = LinearModel(feature_columns, **settings)
        logits = model(features)
        weights = [variable for variable in model.variables if variable is not model.bias]
        return logits, weights, _parts([model.bias])
    old_model = OldLinearModel(feature_columns, **settings)
    logits = old_model(features)
    of_columns = dict(old_model.cols_to_vars())
    bias = of_columns.pop("bias")
    return logits, list(of_columns.values()), bias


def _default_optimizer(feature_columns):
    return FtrlOptimizer(learning_rate=min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns))))


def linear_partitioner(config):
    """How large variables are split among the parameter servers of a RunConfig."""
    return min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0, min_slice_size=_LEAST_SLICE_BYTES
    )


def check_features(features):
    """Raises ValueError unless features are a dict."""
    if not isinstance(features, dict):
        raise ValueError(f"features should be a dictionary of `Tensor`s. Given type: {type(features)}")


def _model_fn(head, feature_columns, optimizer, partitioner, sparse_combiner):
    feature_columns = tuple(feature_columns or [])

    def model_fn(features, labels, mode, config):
        check_features(features)
        split = partitioner or linear_partitioner(config)
        with variable_scope("linear", values=tuple(features.values()), partitioner=split):
            if isinstance(optimizer, LinearSDCA):
                return sdca_spec(features, labels, mode, head, feature_columns, optimizer, summarize_parts)
            logits = linear_logit_fn_builder(head.logits_dimension, feature_columns, sparse_combiner)(features)
            opt = optimizer_of(optimizer or _default_optimizer(feature_columns), learning_rate=_LEARNING_RATE)
            return head.create_estimator_spec(
                features=features, mode=mode, labels=labels, optimizer=opt, logits=logits
            )

    return model_fn


@public("estimator.LinearClassifier")
class LinearClassifier(Estimator):
    """A linear classifier.

    Args:
      feature_columns: dense and categorical columns.
      model_dir: the folder of its checkpoints.
      n_classes: how many classes there are.
      weight_column: a numeric column with the weights of examples, or its key.
      label_vocabulary: the names of the classes, if labels are strings.
      optimizer: a name, a function, or a tf.train.Optimizer.
      config: a tf.estimator.RunConfig.
      partitioner: splits variables.
      warm_start_from: a checkpoint, or tf.estimator.WarmStartSettings.
      loss_reduction: a tf.losses.Reduction.
      sparse_combiner: how the weights of several categories become one: "sum", "mean" or "sqrtn".

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
        optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None, loss_reduction=Reduction.SUM,
        sparse_combiner="sum",
    ):  # fmt: skip
        check_sdca(
            optimizer, feature_columns, sparse_combiner, n_classes <= 2,
            "LinearSDCA cannot be used in a multi-class setting.",
        )  # fmt: skip
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        model_fn = _model_fn(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


@public("estimator.LinearEstimator")
class LinearEstimator(Estimator):
    """A linear model with any head.

    Args:
      head: a head.
      feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner: as for LinearClassifier.
    """

    def __init__(
        self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, partitioner=None,
        sparse_combiner="sum",
    ):  # fmt: skip
        super().__init__(_model_fn(head, feature_columns, optimizer, partitioner, sparse_combiner), model_dir, config)


@public("estimator.LinearRegressor")
class LinearRegressor(Estimator):
    """A linear regressor.

    Args:
      label_dimension: how many numbers the label of an example has.
      feature_columns, model_dir, weight_column, optimizer, config, partitioner, warm_start_from, loss_reduction,
        sparse_combiner: as for LinearClassifier.

    Raises ValueError for other arguments.
    """

    def __init__(
        self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
        partitioner=None, warm_start_from=None, loss_reduction=Reduction.SUM, sparse_combiner="sum",
    ):  # fmt: skip
        check_sdca(
            optimizer, feature_columns, sparse_combiner, label_dimension <= 1,
            "LinearSDCA can only be used with one-dimensional label.",
        )  # fmt: skip
        head = regression_head(weight_column, label_dimension, loss_reduction)
        model_fn = _model_fn(head, feature_columns, optimizer, partitioner, sparse_combiner)
        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)

"""Boosted trees as Estimators of tf.estimator."""

from __future__ import annotations

from stillflow.contrib.boosted_trees.estimators.contrib_estimators import checked_quantile
from stillflow.contrib.boosted_trees.estimators.heads import core_quantile_regression_head
from stillflow.contrib.boosted_trees.estimators.model_functions import (
    ModelBuilderOutputType,
    model_builder,
    ranking_model_builder,
)
from stillflow.estimator.estimator import Estimator
from stillflow.names import public


def _model_fn_of(builder, make_head, **params):
    """The model function that a builder makes with these params; the head is made in each graph."""

    def model_fn(features, labels, mode, config):
        return builder(
            features=features,
            labels=labels,
            mode=mode,
            config=config,
            params={"head": make_head(), "use_core_libs": True, "override_global_step_value": None, **params},
            output_type=ModelBuilderOutputType.ESTIMATOR_SPEC,
        )

    return model_fn


@public("contrib.boosted_trees.estimator_batch.estimator.CoreGradientBoostedDecisionTreeEstimator")
class CoreGradientBoostedDecisionTreeEstimator(Estimator):
    """Boosted trees for a head of tf.estimator.

    Args:
      learner_config: a LearnerConfig.
      examples_per_layer: how many examples a layer is grown by, or a function of the number of the layer.
      head: the head.
      num_trees: how many trees are built.
      feature_columns: columns of tf.feature_column.
      weight_column_name: the feature that is the weight of examples.
      model_dir, config: as tf.estimator.Estimator has them.
      label_keys, feature_engineering_fn: without effect, as in TensorFlow.
      logits_modifier_function: a function of logits, features and mode that gives other logits.
      center_bias: whether the bias is learned before the trees.
      output_leaf_index: whether predictions have "leaf_index", the leaf of each tree.
      num_quantiles: how many buckets numbers are put into.
    """

    def __init__(
        self, learner_config, examples_per_layer, head, num_trees=None, feature_columns=None, weight_column_name=None,
        model_dir=None, config=None, label_keys=None, feature_engineering_fn=None, logits_modifier_function=None,
        center_bias=True, output_leaf_index=False, num_quantiles=100,
    ):  # fmt: skip
        model_fn = _model_fn_of(
            model_builder,
            lambda: head,
            learner_config=learner_config,
            examples_per_layer=examples_per_layer,
            num_trees=num_trees,
            feature_columns=feature_columns,
            weight_column_name=weight_column_name,
            logits_modifier_function=logits_modifier_function,
            center_bias=center_bias,
            output_leaf_index=output_leaf_index,
            num_quantiles=num_quantiles,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


@public("contrib.boosted_trees.estimator_batch.estimator.CoreGradientBoostedDecisionTreeRanker")
class CoreGradientBoostedDecisionTreeRanker(Estimator):
    """Trees that learn which of two examples is better, and predict how good one is.

    Args:
      ranking_model_pair_keys: what names of features of either example begin with: ("a", "b") for a.f1 and b.f1.
      The others are as CoreGradientBoostedDecisionTreeEstimator has them.
    """

    def __init__(
        self, learner_config, examples_per_layer, head, ranking_model_pair_keys, num_trees=None, feature_columns=None,
        weight_column_name=None, model_dir=None, config=None, label_keys=None, logits_modifier_function=None,
        center_bias=False, output_leaf_index=False, num_quantiles=100,
    ):  # fmt: skip
        model_fn = _model_fn_of(
            ranking_model_builder,
            lambda: head,
            learner_config=learner_config,
            examples_per_layer=examples_per_layer,
            num_trees=num_trees,
            feature_columns=feature_columns,
            weight_column_name=weight_column_name,
            logits_modifier_function=logits_modifier_function,
            center_bias=center_bias,
            output_leaf_index=output_leaf_index,
            num_quantiles=num_quantiles,
            ranking_model_pair_keys=ranking_model_pair_keys,
            n_classes=2,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)


@public("contrib.boosted_trees.estimator_batch.estimator.CoreGradientBoostedDecisionTreeQuantileRegressor")
class CoreGradientBoostedDecisionTreeQuantileRegressor(Estimator):
    """A regressor that learns a quantile of the labels. Leaves need an l2 regularization or a least weight.

    Args:
      quantiles: a list of one number in (0, 1).
      label_dimension: how many numbers an example's label has.
      The others are as CoreGradientBoostedDecisionTreeEstimator has them.

    Raises ValueError for several quantiles.
    """

    def __init__(
        self, learner_config, examples_per_layer, quantiles, label_dimension=1, num_trees=None, feature_columns=None,
        weight_column_name=None, model_dir=None, config=None, label_keys=None, feature_engineering_fn=None,
        logits_modifier_function=None, center_bias=True, output_leaf_index=False, num_quantiles=100,
    ):  # fmt: skip
        quantile = checked_quantile(quantiles)
        model_fn = _model_fn_of(
            model_builder,
            lambda: core_quantile_regression_head(quantile, label_dimension, weight_column_name),
            learner_config=learner_config,
            examples_per_layer=examples_per_layer,
            num_trees=num_trees,
            feature_columns=feature_columns,
            weight_column_name=weight_column_name,
            logits_modifier_function=logits_modifier_function,
            center_bias=center_bias,
            output_leaf_index=output_leaf_index,
            num_quantiles=num_quantiles,
        )
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

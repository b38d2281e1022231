"""Boosted trees as Estimators of tf.contrib.learn."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.contrib.boosted_trees.estimators.heads import CustomLossHead
from stillflow.contrib.boosted_trees.estimators.model_functions import model_builder, ranking_model_builder
from stillflow.contrib.boosted_trees.losses import per_example_maxent_loss, per_example_quantile_regression_loss
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import multi_class_head, regression_head
from stillflow.names import public


class _TreeEstimator(Estimator):
    """What all of them have in common.

    Args:
      model_fn: model_builder or ranking_model_builder.
      settings: the arguments of the constructor that are the model function's params.
      model_dir, config, feature_engineering_fn: as Estimator has them.
      **params: those that are not.
    """

    def __init__(self, model_fn, settings, model_dir, config, feature_engineering_fn, **params):
        params = {**settings, **params}
        super().__init__(
            model_fn=model_fn, params=params, model_dir=model_dir, config=config,
            feature_engineering_fn=feature_engineering_fn,
        )  # fmt: skip


def _settings(
    learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name, logits_modifier_function,
    center_bias, use_core_libs, override_global_step_value, num_quantiles,
):  # fmt: skip
    """The params that all model functions take."""
    return {
        "learner_config": learner_config,
        "examples_per_layer": examples_per_layer,
        "num_trees": num_trees,
        "feature_columns": feature_columns,
        "weight_column_name": weight_column_name,
        "logits_modifier_function": logits_modifier_function,
        "center_bias": center_bias,
        "use_core_libs": use_core_libs,
        "override_global_step_value": override_global_step_value,
        "num_quantiles": num_quantiles,
    }


@public("contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeClassifier")
class GradientBoostedDecisionTreeClassifier(_TreeEstimator):
    """A classifier.

    Args:
      learner_config: a LearnerConfig.
      examples_per_layer: how many examples a layer is grown by, or a function of the number of the layer.
      n_classes: how many classes there are.
      num_trees: how many trees are built.
      feature_columns: what the features go through, or None.
      weight_column_name: the feature that is the weight of examples.
      model_dir, config, feature_engineering_fn: as tf.contrib.learn.Estimator has them.
      label_keys: the names of the classes, if labels are names.
      logits_modifier_function: a function of logits, features and mode that gives other logits.
      center_bias: whether the bias is learned before the trees.
      use_core_libs: whether columns and heads are of tf.estimator.
      output_leaf_index: whether predictions have "leaf_index", the leaf of each tree.
      override_global_step_value: what the global step is set to when all trees are built, if it is.
      num_quantiles: how many buckets numbers are put into.

    Raises ValueError for a LearnerConfig of another number of classes.
    """

    def __init__(
        self, learner_config, examples_per_layer, n_classes=2, num_trees=None, feature_columns=None,
        weight_column_name=None, model_dir=None, config=None, label_keys=None, feature_engineering_fn=None,
        logits_modifier_function=None, center_bias=True, use_core_libs=False, output_leaf_index=False,
        override_global_step_value=None, num_quantiles=100,
    ):  # fmt: skip
        def loss_fn(labels, logits, weights=None):
            losses, _ = per_example_maxent_loss(labels=labels, logits=logits, weights=weights, num_classes=n_classes)
            return ops.reduce_mean(losses)

        head = multi_class_head(
            n_classes=n_classes,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
            loss_fn=loss_fn if n_classes > 2 else None,
            label_keys=label_keys,
        )
        if learner_config.num_classes == 0:
            learner_config.num_classes = n_classes
        elif learner_config.num_classes != n_classes:
            raise ValueError(f"n_classes ({n_classes}) doesn't match learner_config ({learner_config.num_classes}).")
        settings = _settings(
            learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name,
            logits_modifier_function, center_bias, use_core_libs, override_global_step_value, num_quantiles,
        )  # fmt: skip
        super().__init__(
            model_builder, settings, model_dir, config, feature_engineering_fn, head=head,
            output_leaf_index=output_leaf_index,
        )  # fmt: skip


@public("contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRegressor")
class GradientBoostedDecisionTreeRegressor(_TreeEstimator):
    """A regressor, with the squared loss.

    Args:
      label_dimension: how many numbers an example's label has.
      label_name: the key of labels that are in a dict.
      output_leaf_index: without effect, as in TensorFlow.
      The others are as GradientBoostedDecisionTreeClassifier has them.
    """

    def __init__(
        self, learner_config, examples_per_layer, label_dimension=1, num_trees=None, feature_columns=None,
        label_name=None, weight_column_name=None, model_dir=None, config=None, feature_engineering_fn=None,
        logits_modifier_function=None, center_bias=True, use_core_libs=False, output_leaf_index=False,
        override_global_step_value=None, num_quantiles=100,
    ):  # fmt: skip
        head = regression_head(
            label_name=label_name,
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        learner_config.num_classes = 2 if label_dimension == 1 else label_dimension
        settings = _settings(
            learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name,
            logits_modifier_function, center_bias, use_core_libs, override_global_step_value, num_quantiles,
        )  # fmt: skip
        super().__init__(
            model_builder, settings, model_dir, config, feature_engineering_fn, head=head, output_leaf_index=False
        )


@public("contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeEstimator")
class GradientBoostedDecisionTreeEstimator(_TreeEstimator):
    """Boosted trees for a head.

    Args:
      head: a Head of tf.contrib.learn, or of tf.estimator with use_core_libs.
      output_leaf_index: without effect, as in TensorFlow.
      The others are as GradientBoostedDecisionTreeClassifier has them.
    """

    def __init__(
        self, learner_config, examples_per_layer, head, num_trees=None, feature_columns=None, weight_column_name=None,
        model_dir=None, config=None, feature_engineering_fn=None, logits_modifier_function=None, center_bias=True,
        use_core_libs=False, output_leaf_index=False, override_global_step_value=None, num_quantiles=100,
    ):  # fmt: skip
        settings = _settings(
            learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name,
            logits_modifier_function, center_bias, use_core_libs, override_global_step_value, num_quantiles,
        )  # fmt: skip
        super().__init__(
            model_builder, settings, model_dir, config, feature_engineering_fn, head=head, output_leaf_index=False
        )


@public("contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeRanker")
class GradientBoostedDecisionTreeRanker(_TreeEstimator):
    """Trees that learn which of two examples is better, and predict how good one is (Burges, LambdaMART).

    Args:
      head: a Head of tf.contrib.learn, or of tf.estimator with use_core_libs.
      ranking_model_pair_keys: what names of features of either example begin with: ("a", "b") for a.f1 and b.f1.
      label_keys: without effect, as in TensorFlow.
      The others are as GradientBoostedDecisionTreeClassifier has them.
    """

    def __init__(
        self, learner_config, examples_per_layer, head, ranking_model_pair_keys, num_trees=None, feature_columns=None,
        weight_column_name=None, model_dir=None, config=None, label_keys=None, feature_engineering_fn=None,
        logits_modifier_function=None, center_bias=False, use_core_libs=False, output_leaf_index=False,
        override_global_step_value=None, num_quantiles=100,
    ):  # fmt: skip
        settings = _settings(
            learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name,
            logits_modifier_function, center_bias, use_core_libs, override_global_step_value, num_quantiles,
        )  # fmt: skip
        super().__init__(
            ranking_model_builder, settings, model_dir, config, feature_engineering_fn, head=head, n_classes=2,
            output_leaf_index=output_leaf_index, ranking_model_pair_keys=ranking_model_pair_keys,
        )  # fmt: skip


def checked_quantile(quantiles):
    """The one quantile of a list. Raises ValueError for several."""
    if len(quantiles) > 1:
        raise ValueError("For now, just one quantile per estimator is supported")
    return quantiles[0]


@public("contrib.boosted_trees.estimator_batch.estimator.GradientBoostedDecisionTreeQuantileRegressor")
class GradientBoostedDecisionTreeQuantileRegressor(_TreeEstimator):
    """A regressor that learns a quantile of the labels. Leaves need an l2 regularization or a least weight.

    Args:
      quantiles: a list of one number in (0, 1).
      label_dimension: how many numbers an example's label has.
      output_leaf_index: without effect, as in TensorFlow.
      The others are as GradientBoostedDecisionTreeClassifier has them.

    Raises ValueError for several quantiles.
    """

    def __init__(
        self, learner_config, examples_per_layer, quantiles, label_dimension=1, num_trees=None, feature_columns=None,
        weight_column_name=None, model_dir=None, config=None, feature_engineering_fn=None,
        logits_modifier_function=None, center_bias=True, use_core_libs=False, output_leaf_index=False,
        override_global_step_value=None, num_quantiles=100,
    ):  # fmt: skip
        head = CustomLossHead(
            loss_fn=functools.partial(per_example_quantile_regression_loss, quantile=checked_quantile(quantiles)),
            link_fn=ops.identity,
            logit_dimension=label_dimension,
        )
        learner_config.num_classes = max(2, label_dimension)
        settings = _settings(
            learner_config, examples_per_layer, num_trees, feature_columns, weight_column_name,
            logits_modifier_function, center_bias, use_core_libs, override_global_step_value, num_quantiles,
        )  # fmt: skip
        super().__init__(
            model_builder, settings, model_dir, config, feature_engineering_fn, head=head, output_leaf_index=False
        )

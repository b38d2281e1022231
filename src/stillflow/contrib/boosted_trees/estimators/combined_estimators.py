"""Estimators of a network whose logits trees improve."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.boosted_trees.estimators.combined_model import CombinedParams, dnn_tree_combined_model_fn
from stillflow.contrib.boosted_trees.estimators.model_functions import ModelBuilderOutputType
from stillflow.contrib.learn.estimators import Estimator
from stillflow.contrib.learn.heads import multi_class_head, regression_head
from stillflow.estimator.estimator import Estimator as CoreEstimator
from stillflow.names import public


def _model_fn_of(params, output_type=ModelBuilderOutputType.MODEL_FN_OPS):
    def model_fn(features, labels, mode, config):
        return dnn_tree_combined_model_fn(features, labels, mode, config, params, output_type)

    return model_fn


@public("contrib.boosted_trees.estimator_batch.dnn_tree_combined_estimator.DNNBoostedTreeCombinedClassifier")
class DNNBoostedTreeCombinedClassifier(Estimator):
    """A classifier.

    Args:
      dnn_hidden_units: how many units each layer has.
      dnn_feature_columns: the columns of the network's input.
      tree_learner_config: a LearnerConfig.
      num_trees: how many trees are built once the network is trained.
      tree_examples_per_layer: how many examples a layer of a tree is grown by, or a function of its number.
      n_classes, label_name, label_keys, weight_column_name: as tf.contrib.learn.multi_class_head has them.
      model_dir, config, feature_engineering_fn: as tf.contrib.learn.Estimator has them.
      dnn_optimizer: the name of an optimizer, an Optimizer, or a function that makes one.
      dnn_activation_fn: of each layer.
      dnn_dropout: the probability that a unit is dropped, or None.
      dnn_input_layer_partitioner: of the variables.
      dnn_input_layer_to_tree: whether trees ask the network's input, too.
      dnn_steps_to_train: how many steps the network is trained.
      predict_with_tree_only: whether predictions are those of the trees alone.
      tree_feature_columns: the columns that trees ask.
      tree_center_bias: whether the bias is learned before the trees.
      dnn_to_tree_distillation_param: (the weight of a loss, a function of the network's logits, the trees' logits and
        weights, or None for the cross entropy) by which trees learn what the network says, or None.
      use_core_versions: whether columns are of tf.feature_column.
      override_global_step_value: what the global step is set to when all trees are built, if it is.
    """

    def __init__(
        self, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
        n_classes=2, weight_column_name=None, model_dir=None, config=None, label_name=None, label_keys=None,
        feature_engineering_fn=None, dnn_optimizer="Adagrad", dnn_activation_fn=ops.relu, dnn_dropout=None,
        dnn_input_layer_partitioner=None, dnn_input_layer_to_tree=True, dnn_steps_to_train=10000,
        predict_with_tree_only=False, tree_feature_columns=None, tree_center_bias=False,
        dnn_to_tree_distillation_param=None, use_core_versions=False, override_global_step_value=None,
    ):  # fmt: skip
        head = multi_class_head(
            n_classes=n_classes,
            label_name=label_name,
            label_keys=label_keys,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        params = CombinedParams(
            head, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
            dnn_optimizer, dnn_activation_fn, dnn_dropout, dnn_input_layer_partitioner, dnn_input_layer_to_tree,
            dnn_steps_to_train, predict_with_tree_only, tree_feature_columns, tree_center_bias,
            dnn_to_tree_distillation_param, use_core_versions, override_global_step_value,
        )  # fmt: skip
        super().__init__(_model_fn_of(params), model_dir, config, feature_engineering_fn=feature_engineering_fn)


@public("contrib.boosted_trees.estimator_batch.dnn_tree_combined_estimator.DNNBoostedTreeCombinedRegressor")
class DNNBoostedTreeCombinedRegressor(Estimator):
    """A regressor.

    Args:
      label_dimension: how many numbers an example's label has.
      The others are as DNNBoostedTreeCombinedClassifier has them.
    """

    def __init__(
        self, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
        weight_column_name=None, model_dir=None, config=None, label_name=None, label_dimension=1,
        feature_engineering_fn=None, dnn_optimizer="Adagrad", dnn_activation_fn=ops.relu, dnn_dropout=None,
        dnn_input_layer_partitioner=None, dnn_input_layer_to_tree=True, dnn_steps_to_train=10000,
        predict_with_tree_only=False, tree_feature_columns=None, tree_center_bias=False,
        dnn_to_tree_distillation_param=None, use_core_versions=False, override_global_step_value=None,
    ):  # fmt: skip
        head = regression_head(
            label_name=label_name,
            label_dimension=label_dimension,
            weight_column_name=weight_column_name,
            enable_centered_bias=False,
        )
        tree_learner_config.num_classes = 2 if label_dimension == 1 else label_dimension
        params = CombinedParams(
            head, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
            dnn_optimizer, dnn_activation_fn, dnn_dropout, dnn_input_layer_partitioner, dnn_input_layer_to_tree,
            dnn_steps_to_train, predict_with_tree_only, tree_feature_columns, tree_center_bias,
            dnn_to_tree_distillation_param, use_core_versions, override_global_step_value,
        )  # fmt: skip
        super().__init__(_model_fn_of(params), model_dir, config, feature_engineering_fn=feature_engineering_fn)


@public("contrib.boosted_trees.estimator_batch.dnn_tree_combined_estimator.DNNBoostedTreeCombinedEstimator")
class DNNBoostedTreeCombinedEstimator(Estimator):
    """Both for a head.

    Args:
      head: a Head of tf.contrib.learn.
      The others are as DNNBoostedTreeCombinedClassifier has them.
    """

    def __init__(
        self, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer, head,
        model_dir=None, config=None, feature_engineering_fn=None, dnn_optimizer="Adagrad", dnn_activation_fn=ops.relu,
        dnn_dropout=None, dnn_input_layer_partitioner=None, dnn_input_layer_to_tree=True, dnn_steps_to_train=10000,
        predict_with_tree_only=False, tree_feature_columns=None, tree_center_bias=False,
        dnn_to_tree_distillation_param=None, use_core_versions=False, override_global_step_value=None,
    ):  # fmt: skip
        params = CombinedParams(
            head, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
            dnn_optimizer, dnn_activation_fn, dnn_dropout, dnn_input_layer_partitioner, dnn_input_layer_to_tree,
            dnn_steps_to_train, predict_with_tree_only, tree_feature_columns, tree_center_bias,
            dnn_to_tree_distillation_param, use_core_versions, override_global_step_value,
        )  # fmt: skip
        super().__init__(_model_fn_of(params), model_dir, config, feature_engineering_fn=feature_engineering_fn)


@public("contrib.boosted_trees.estimator_batch.dnn_tree_combined_estimator.CoreDNNBoostedTreeCombinedEstimator")
class CoreDNNBoostedTreeCombinedEstimator(CoreEstimator):
    """Both for a head of tf.estimator.

    Args:
      head: the head.
      dnn_feature_columns, tree_feature_columns: columns of tf.feature_column.
      model_dir, config: as tf.estimator.Estimator has them.
      The others are as DNNBoostedTreeCombinedClassifier has them.
    """

    def __init__(
        self, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer, head,
        model_dir=None, config=None, dnn_optimizer="Adagrad", dnn_activation_fn=ops.relu, dnn_dropout=None,
        dnn_input_layer_partitioner=None, dnn_input_layer_to_tree=True, dnn_steps_to_train=10000,
        predict_with_tree_only=False, tree_feature_columns=None, tree_center_bias=False,
        dnn_to_tree_distillation_param=None,
    ):  # fmt: skip
        params = CombinedParams(
            head, dnn_hidden_units, dnn_feature_columns, tree_learner_config, num_trees, tree_examples_per_layer,
            dnn_optimizer, dnn_activation_fn, dnn_dropout, dnn_input_layer_partitioner, dnn_input_layer_to_tree,
            dnn_steps_to_train, predict_with_tree_only, tree_feature_columns, tree_center_bias,
            dnn_to_tree_distillation_param, True, None,
        )  # fmt: skip
        model_fn = _model_fn_of(params, ModelBuilderOutputType.ESTIMATOR_SPEC)
        super().__init__(model_fn=model_fn, model_dir=model_dir, config=config)

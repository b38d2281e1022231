"""The handlers of a model's features, and which of them are asked in a layer."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.boosted_trees.prediction_keys import PredictionKeys
from stillflow.contrib.boosted_trees.split_handlers.categorical import EqualitySplitHandler
from stillflow.contrib.boosted_trees.split_handlers.ordinal import DenseSplitHandler, SparseSplitHandler
from stillflow.graph import dtypes
from stillflow.ops.array.constant import constant
from stillflow.ops.control_flow.cond import cond
from stillflow.random.sampling import stateless_random_uniform


def make_handlers(features, config, num_quantiles, gradient_shape, hessian_shape, loss_uses_sum_reduction):
    """A handler of each feature: dense numbers, sparse numbers, categories.

    Args:
      features: ExtractedFeatures.
      config: a LearnerConfig.
      num_quantiles: how many buckets numbers are put into.
      gradient_shape, hessian_shape: TensorShapes of those of one example.
      loss_uses_sum_reduction: whether the loss of a batch is a sum.
    """
    stamp = constant(0, dtype=dtypes.int64)
    settings = {
        "l1_regularization": constant(config.regularization.l1, dtypes.float32),
        "l2_regularization": constant(config.regularization.l2, dtypes.float32),
        "tree_complexity_regularization": constant(config.regularization.tree_complexity, dtypes.float32),
        "min_node_weight": constant(config.constraints.min_node_weight, dtypes.float32),
        "loss_uses_sum_reduction": constant(loss_uses_sum_reduction),
        "gradient_shape": gradient_shape,
        "hessian_shape": hessian_shape,
        "init_stamp_token": stamp,
    }
    learner = {"weak_learner_type": constant(config.weak_learner_type)}
    quantiles = {"epsilon": 1.0 / num_quantiles, "num_quantiles": num_quantiles}
    settings["multiclass_strategy"] = constant(config.multi_class_strategy)
    names = iter(features.names)

    def of_kind(make, columns, **more):
        return [
            make(column, feature_column_group_id=constant(i), name=next(names), **settings, **more)
            for i, column in enumerate(columns)
        ]

    return [
        *of_kind(DenseSplitHandler, features.dense_floats, **quantiles, **learner),
        *of_kind(SparseSplitHandler, features.sparse_floats(), **quantiles),
        *of_kind(EqualitySplitHandler, features.sparse_ints(), **learner),
    ]


def _drawn(config, predictions_dict, count):
    """Which handlers are drawn by chance, bool [count, 2]."""
    kind = config.WhichOneof("feature_fraction")
    if kind == "feature_fraction_per_level":
        seed = predictions_dict[PredictionKeys.NUM_LAYERS_ATTEMPTED]
        now = stateless_random_uniform(shape=[count], seed=[seed, 1])
        later = stateless_random_uniform(shape=[count], seed=[seed + 1, 1])
        return ops.less(ops.stack([now, later], axis=1), config.feature_fraction_per_level)
    if kind == "feature_fraction_per_tree":
        seed = predictions_dict[PredictionKeys.NUM_TREES_ATTEMPTED]
        now = stateless_random_uniform(shape=[count], seed=[seed, 2])
        now = ops.less(now, config.feature_fraction_per_tree)
        return ops.stack([now, ops.ones([count], dtype=dtypes.bool_)], axis=1)
    return ops.ones([count, 2], dtype=dtypes.bool_)


def active_handlers(config, predictions_dict, count):
    """Which handlers are asked in this layer and in the next, bool [count, 2].

    Args:
      config: a LearnerConfig.
      predictions_dict: what the model predicts to train.
      count: how many handlers there are.
    """
    drawn = _drawn(config, predictions_dict, count)
    target = config.constraints.max_number_of_unique_feature_columns
    if not target:
        return drawn

    def only_used():
        used = ops.reshape(predictions_dict[PredictionKeys.USED_HANDLERS_MASK], [-1, 1])
        return ops.logical_and(ops.concat([used, used], axis=1), drawn)

    is_full = ops.greater_equal(predictions_dict[PredictionKeys.NUM_USED_HANDLERS], target)
    return cond(is_full, only_used, lambda: drawn)

"""Ops that find where nodes are split best (contrib.boosted_trees)."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.boosted_trees.define import define

_WEIGHING = (
    "l1_regularization: float32, l2_regularization: float32, tree_complexity_regularization: float32, "
    "min_node_weight: float32, multiclass_strategy: int32"
)
_WEIGHING_NAMES = (
    "l1_regularization, l2_regularization, tree_complexity_regularization, min_node_weight, multiclass_strategy"
)
_SPLITS = "(output_partition_ids: int32, gains: float32, split_infos: string)"
_BUCKETS = (
    "num_minibatches: int64, partition_ids: int32, bucket_ids: int64, gradients: float32, hessians: float32, "
    "bucket_boundaries: float32, class_id: int32, feature_column_group_id: int32"
)
_BUCKET_NAMES = (
    "num_minibatches, partition_ids, bucket_ids, gradients, hessians, bucket_boundaries, class_id, "
    "feature_column_group_id"
)


def _split_shapes(context):
    size = plain.with_rank(context.shapes[1], 1)[0]
    for shape in context.shapes[3:5]:
        if plain.with_rank_at_least(shape, 1) is not None:
            plain.merged_size(size, shape[0])
    return [(None,)] * 3


_RANKS = [0, 1, 2, None, None]

build_dense_inequality_splits = define(
    f"BuildDenseInequalitySplits({_BUCKETS}, {_WEIGHING}, weak_learner_type: int32) -> {_SPLITS}",
    "",
    f"dense_inequality_splits({_BUCKET_NAMES}, {_WEIGHING_NAMES}, weak_learner_type)",
    [*_RANKS, 1],
    _split_shapes,
    stateful=False,
)
build_sparse_inequality_splits = define(
    f"BuildSparseInequalitySplits({_BUCKETS}, bias_feature_id: int64, {_WEIGHING}) -> {_SPLITS}",
    "",
    f"sparse_inequality_splits({_BUCKET_NAMES}, bias_feature_id, {_WEIGHING_NAMES})",
    [*_RANKS, 1],
    _split_shapes,
    stateful=False,
)
build_categorical_equality_splits = define(
    "BuildCategoricalEqualitySplits(num_minibatches: int64, partition_ids: int32, feature_ids: int64, "
    "gradients: float32, hessians: float32, class_id: int32, feature_column_group_id: int32, bias_feature_id: int64, "
    f"{_WEIGHING}, weak_learner_type: int32) -> {_SPLITS}",
    "",
    "categorical_equality_splits(num_minibatches, partition_ids, feature_ids, gradients, hessians, class_id, "
    f"feature_column_group_id, bias_feature_id, {_WEIGHING_NAMES}, weak_learner_type)",
    _RANKS,
    _split_shapes,
    stateful=False,
)

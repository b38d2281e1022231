"""Ops that sum gradients and hessians by nodes and buckets, and find where nodes are split best."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.boosted_trees.define import define

_EXAMPLES = "node_ids: int32, gradients: float32, hessians: float32"
_SUM_ATTRS = "max_splits: int >= 1; num_buckets: int >= 1"
_REGULARIZATION = "l1: float32, l2: float32, tree_complexity: float32, min_node_weight: float32"
_REGULARIZATION_NAMES = "l1, l2, tree_complexity, min_node_weight"
_BEST = (
    "node_ids: int32, gains: float32, feature_dimensions: int32, thresholds: int32, left_node_contribs: float32, "
    "right_node_contribs: float32, split_with_default_directions: string"
)


def _summary_shape(context):
    attrs = context.attrs
    return [(attrs["num_features"], attrs["max_splits"], attrs["num_buckets"], 2)]


def _stats_shape(context):
    """TensorFlow says [max_splits, num_buckets, ...]; this is what the kernel makes."""
    gradients, hessians, feature = (plain.with_rank(context.shapes[i], 2)[1] for i in (1, 2, 3))
    width = plain.total([gradients, hessians])
    return [(context.attrs["max_splits"], feature, context.attrs["num_buckets"] + 1, width)]


boosted_trees_make_stats_summary = define(
    f"BoostedTreesMakeStatsSummary({_EXAMPLES}, bucketized_features_list: num_features * int32) -> "
    "(stats_summary: float32)",
    f"{_SUM_ATTRS}; num_features: int >= 1",
    "boosted_trees_stats_summary(node_ids, gradients, hessians, bucketized_features_list | max_splits, num_buckets)",
    [1, 2, 2, (1, "num_features")],
    _summary_shape,
    stateful=False,
)
boosted_trees_aggregate_stats = define(
    f"BoostedTreesAggregateStats({_EXAMPLES}, feature: int32) -> (stats_summary: float32)",
    _SUM_ATTRS,
    "boosted_trees_aggregate_stats(node_ids, gradients, hessians, feature | max_splits, num_buckets)",
    [1, 2, 2, 2],
    _stats_shape,
    stateful=False,
)
boosted_trees_sparse_aggregate_stats = define(
    f"BoostedTreesSparseAggregateStats({_EXAMPLES}, feature_indices: int32, feature_values: int32, "
    "feature_shape: int32) -> (stats_summary_indices: int32, stats_summary_values: float32, "
    "stats_summary_shape: int32)",
    _SUM_ATTRS,
    "boosted_trees_sparse_stats(node_ids, gradients, hessians, feature_indices, feature_values, feature_shape | "
    "max_splits, num_buckets)",
    [1, 2, 2, 2, 1, 1],
    [(None, 4), (None,), (4,)],
    stateful=False,
)


def _gains_shapes(context):
    shapes = [(None,), (None,), (None,), (None, 1), (None, 1)]
    return [shape for shape in shapes for _ in range(context.attrs["num_features"])]


boosted_trees_calculate_best_gains_per_feature = define(
    "BoostedTreesCalculateBestGainsPerFeature(node_id_range: int32, stats_summary_list: num_features * float32, "
    f"{_REGULARIZATION}) -> (node_ids_list: num_features * int32, gains_list: num_features * float32, "
    "thresholds_list: num_features * int32, left_node_contribs_list: num_features * float32, "
    "right_node_contribs_list: num_features * float32)",
    "max_splits: int >= 1; num_features: int >= 1",
    f"boosted_trees_best_gains(node_id_range, stats_summary_list, {_REGULARIZATION_NAMES})",
    [1, (3, "num_features"), 0, 0, 0, 0],
    _gains_shapes,
    stateful=False,
)


def _best_shapes(context):
    """TensorFlow says that all are vectors; the weights are matrices."""
    weights = (None, context.attrs["logits_dimension"])
    return [(None,)] * 4 + [weights, weights, (None,)]


boosted_trees_calculate_best_feature_split = define(
    f"BoostedTreesCalculateBestFeatureSplit(node_id_range: int32, stats_summary: float32, {_REGULARIZATION}) -> "
    f"({_BEST})",
    "logits_dimension: int >= 1; split_type: {'inequality', 'equality'} = 'inequality'",
    f"boosted_trees_best_split(node_id_range, stats_summary, {_REGULARIZATION_NAMES} | logits_dimension, split_type)",
    [1, 4, 0, 0, 0, 0],
    _best_shapes,
    stateful=False,
)
boosted_trees_sparse_calculate_best_feature_split = define(
    "BoostedTreesSparseCalculateBestFeatureSplit(node_id_range: int32, stats_summary_indices: int32, "
    f"stats_summary_values: float32, stats_summary_shape: int32, {_REGULARIZATION}) -> ({_BEST})",
    "logits_dimension: int >= 1; split_type: {'inequality'} = 'inequality'",
    "boosted_trees_sparse_split(node_id_range, stats_summary_indices, stats_summary_values, stats_summary_shape, "
    f"{_REGULARIZATION_NAMES})",
    [1, 2, 1, 1, 0, 0, 0, 0],
    lambda context: [(None,)] * 4 + [(None, 1), (None, 1), (None,)],
    stateful=False,
)

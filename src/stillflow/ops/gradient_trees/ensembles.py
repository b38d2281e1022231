"""Ops on ensembles: saved, grown, and asked for predictions (contrib.boosted_trees)."""

from __future__ import annotations

from stillflow.formats import protobuf
from stillflow.ops.boosted_trees.define import HANDLE, define, define_handle

_CONFIG = f"{HANDLE}, stamp_token: int64, tree_ensemble_config: string"
_STAMPED = f"{HANDLE}, stamp_token: int64"

decision_tree_ensemble_resource_handle_op = define_handle(
    "DecisionTreeEnsembleResourceHandleOp", "gradient_trees_handle"
)
tree_ensemble_is_initialized_op = define(
    f"TreeEnsembleIsInitializedOp({HANDLE}) -> (is_initialized: bool)",
    "",
    "gradient_trees_exists(tree_ensemble_handle)",
    [0],
    [()],
)
create_tree_ensemble_variable = define(
    f"CreateTreeEnsembleVariable({_CONFIG}) -> ()",
    "",
    "create_gradient_trees(tree_ensemble_handle, stamp_token, tree_ensemble_config)",
    [0, 0, 0],
)
tree_ensemble_deserialize = define(
    f"TreeEnsembleDeserialize({_CONFIG}) -> ()",
    "",
    "deserialize_gradient_trees(tree_ensemble_handle, stamp_token, tree_ensemble_config)",
    [0, 0, 0],
)
tree_ensemble_stamp_token = define(
    f"TreeEnsembleStampToken({HANDLE}) -> (stamp_token: int64)",
    "",
    "gradient_trees_stamp(tree_ensemble_handle)",
    [0],
    [()],
)
tree_ensemble_serialize = define(
    f"TreeEnsembleSerialize({HANDLE}) -> (stamp_token: int64, tree_ensemble_config: string)",
    "",
    "serialize_gradient_trees(tree_ensemble_handle)",
    [0],
    [(), ()],
)
tree_ensemble_used_handlers = define(
    f"TreeEnsembleUsedHandlers({_STAMPED}) -> (num_used_handlers: int64, used_handlers_mask: bool)",
    "num_all_handlers: int >= 0",
    "gradient_trees_used_handlers(tree_ensemble_handle, stamp_token | num_all_handlers)",
    [0, 0],
    lambda context: [(), (context.attrs["num_all_handlers"],)],
)
tree_ensemble_stats = define(
    f"TreeEnsembleStats({_STAMPED}) -> (num_trees: int64, num_layers: int64, active_tree: int64, "
    "active_layer: int64, attempted_trees: int64, attempted_layers: int64)",
    "",
    "gradient_trees_stats(tree_ensemble_handle, stamp_token)",
    [0, 0],
    [()] * 6,
)

# ---- Growing -----------------------------------------------------------------------------------------------------

center_tree_ensemble_bias = define(
    f"CenterTreeEnsembleBias({_STAMPED}, next_stamp_token: int64, delta_updates: float32) -> "
    "(continue_centering: bool)",
    "learner_config: string; centering_epsilon: float = 0.01",
    "center_gradient_trees(tree_ensemble_handle, stamp_token, next_stamp_token, delta_updates | centering_epsilon)",
    [0, 0, 0, 1],
    [()],
)
grow_tree_ensemble = define(
    f"GrowTreeEnsemble({_STAMPED}, next_stamp_token: int64, learning_rate: float32, dropout_seed: int64, "
    "max_tree_depth: int32, weak_learner_type: int32, partition_ids: num_handlers * int32, "
    "gains: num_handlers * float32, splits: num_handlers * string) -> ()",
    "learner_config: string; num_handlers: int >= 0; center_bias: bool",
    "grow_gradient_trees(tree_ensemble_handle, stamp_token, next_stamp_token, learning_rate, dropout_seed, "
    "max_tree_depth, weak_learner_type, partition_ids, gains, splits | learner_config, num_handlers, center_bias)",
    [0, 0, 0, 0, 0, 0],
)

# ---- Predictions -------------------------------------------------------------------------------------------------

_FEATURES = (
    "dense_float_features: num_dense_float_features * float32, "
    "sparse_float_feature_indices: num_sparse_float_features * int64, "
    "sparse_float_feature_values: num_sparse_float_features * float32, "
    "sparse_float_feature_shapes: num_sparse_float_features * int64, "
    "sparse_int_feature_indices: num_sparse_int_features * int64, "
    "sparse_int_feature_values: num_sparse_int_features * int64, "
    "sparse_int_feature_shapes: num_sparse_int_features * int64"
)
_FEATURE_NAMES = (
    "dense_float_features, sparse_float_feature_indices, sparse_float_feature_values, sparse_float_feature_shapes, "
    "sparse_int_feature_indices, sparse_int_feature_values, sparse_int_feature_shapes"
)
_COUNTS = (
    "num_dense_float_features: int >= 0; num_sparse_float_features: int >= 0; num_sparse_int_features: int >= 0; "
    "use_locking: bool = false"
)
_COUNT_NAMES = "num_dense_float_features, num_sparse_float_features, num_sparse_int_features"
_PREDICT_ATTRS = (
    f"learner_config: string; {_COUNTS}; apply_dropout: bool; apply_averaging: bool; center_bias: bool; "
    "reduce_dim: bool"
)
_PREDICT_CALL = (
    f"(tree_ensemble_handle, seed, {_FEATURE_NAMES} | learner_config, {_COUNT_NAMES}, apply_dropout, "
    "apply_averaging, center_bias, reduce_dim)"
)


def _predictions_shape(context):
    from google.protobuf.message import DecodeError

    try:
        config = protobuf.message("learner.LearnerConfig").FromString(context.attrs["learner_config"])
    except DecodeError:  # of which the kernel tells
        return (None, None)
    if config.num_classes < 2:
        return (None, None)
    return (None, config.num_classes - context.attrs["reduce_dim"])


gradient_trees_prediction = define(
    f"GradientTreesPrediction({HANDLE}, seed: int64, {_FEATURES}) -> (predictions: float32, "
    "drop_out_tree_indices_weights: float32)",
    _PREDICT_ATTRS,
    f"gradient_trees_predict{_PREDICT_CALL}",
    [None],
    lambda context: [_predictions_shape(context), None],
)
gradient_trees_prediction_verbose = define(
    f"GradientTreesPredictionVerbose({HANDLE}, seed: int64, {_FEATURES}) -> (predictions: float32, "
    "drop_out_tree_indices_weights: float32, leaf_index: int32)",
    _PREDICT_ATTRS,
    f"gradient_trees_predict_verbose{_PREDICT_CALL}",
    [None],
    lambda context: [_predictions_shape(context), None, (None, None)],
)
gradient_trees_partition_examples = define(
    f"GradientTreesPartitionExamples({HANDLE}, {_FEATURES}) -> (partition_ids: int32)",
    _COUNTS,
    f"gradient_trees_partition(tree_ensemble_handle, {_FEATURE_NAMES} | {_COUNT_NAMES})",
    [None],
    [(None,)],
)

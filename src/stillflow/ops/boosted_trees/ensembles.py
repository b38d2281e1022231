"""Ops on ensembles of boosted trees: saved, grown, and asked for predictions."""

from __future__ import annotations

from stillflow.ops.boosted_trees.define import HANDLE, batch_size, define, define_handle

_SERIALIZED = f"{HANDLE}, stamp_token: int64, tree_ensemble_serialized: string"
_BUCKETS = "bucketized_features: num_bucketized_features * int32"
_PREDICT_ATTRS = "num_bucketized_features: int >= 1; logits_dimension: int"

boosted_trees_ensemble_resource_handle_op = define_handle(
    "BoostedTreesEnsembleResourceHandleOp", "boosted_trees_ensemble_handle"
)
is_boosted_trees_ensemble_initialized = define(
    f"IsBoostedTreesEnsembleInitialized({HANDLE}) -> (is_initialized: bool)",
    "",
    "boosted_trees_ensemble_exists(tree_ensemble_handle)",
    [0],
    [()],
)
boosted_trees_create_ensemble = define(
    f"BoostedTreesCreateEnsemble({_SERIALIZED}) -> ()",
    "",
    "create_boosted_trees(tree_ensemble_handle, stamp_token, tree_ensemble_serialized)",
    [0, 0, 0],
)
boosted_trees_deserialize_ensemble = define(
    f"BoostedTreesDeserializeEnsemble({_SERIALIZED}) -> ()",
    "",
    "deserialize_boosted_trees(tree_ensemble_handle, stamp_token, tree_ensemble_serialized)",
    [0, 0, 0],
)
boosted_trees_serialize_ensemble = define(
    f"BoostedTreesSerializeEnsemble({HANDLE}) -> (stamp_token: int64, tree_ensemble_serialized: string)",
    "",
    "serialize_boosted_trees(tree_ensemble_handle)",
    [0],
    [(), ()],
)
boosted_trees_get_ensemble_states = define(
    f"BoostedTreesGetEnsembleStates({HANDLE}) -> (stamp_token: int64, num_trees: int32, num_finalized_trees: int32, "
    "num_attempted_layers: int32, last_layer_nodes_range: int32)",
    "",
    "boosted_trees_states(tree_ensemble_handle)",
    [0],
    [(), (), (), (), (2,)],
)

# ---- Predictions -------------------------------------------------------------------------------------------------

boosted_trees_predict = define(
    f"BoostedTreesPredict({HANDLE}, {_BUCKETS}) -> (logits: float32)",
    _PREDICT_ATTRS,
    "boosted_trees_predict(tree_ensemble_handle, bucketized_features | logits_dimension)",
    [None],
    lambda context: [
        (batch_size(context, 1, context.attrs["num_bucketized_features"]), context.attrs["logits_dimension"])
    ],
)
boosted_trees_example_debug_outputs = define(
    f"BoostedTreesExampleDebugOutputs({HANDLE}, {_BUCKETS}) -> (examples_debug_outputs_serialized: string)",
    _PREDICT_ATTRS,
    "boosted_trees_debug_outputs(tree_ensemble_handle, bucketized_features | logits_dimension)",
    [None],
    lambda context: [(batch_size(context, 1, context.attrs["num_bucketized_features"]),)],
)


def _training_shapes(context):
    count = batch_size(context, 1, 2 + context.attrs["num_bucketized_features"])
    return [(count, context.attrs["logits_dimension"]), (count,), (count,)]


boosted_trees_training_predict = define(
    f"BoostedTreesTrainingPredict({HANDLE}, cached_tree_ids: int32, cached_node_ids: int32, {_BUCKETS}) -> "
    "(partial_logits: float32, tree_ids: int32, node_ids: int32)",
    _PREDICT_ATTRS,
    "boosted_trees_training_predict(tree_ensemble_handle, cached_tree_ids, cached_node_ids, bucketized_features | "
    "logits_dimension)",
    [None],
    _training_shapes,
)

# ---- Growing -----------------------------------------------------------------------------------------------------

_SPLITS = (
    "node_ids: num_features * int32, gains: num_features * float32, thresholds: num_features * int32, "
    "left_node_contribs: num_features * float32, right_node_contribs: num_features * float32"
)
_SPLIT_NAMES = "node_ids, gains, thresholds, left_node_contribs, right_node_contribs"
_VECTORS, _MATRICES = (1, "num_features"), (2, "num_features")

boosted_trees_update_ensemble = define(
    f"BoostedTreesUpdateEnsemble({HANDLE}, feature_ids: int32, {_SPLITS}, max_depth: int32, learning_rate: float32) "
    "-> ()",
    "pruning_mode: int >= 0; num_features: int >= 0",
    f"update_boosted_trees(tree_ensemble_handle, feature_ids, {_SPLIT_NAMES}, max_depth, learning_rate | "
    "pruning_mode, num_features)",
    [None, 1, _VECTORS, _VECTORS, _VECTORS, _MATRICES, _MATRICES, None, None],
)
boosted_trees_update_ensemble_v2 = define(
    f"BoostedTreesUpdateEnsembleV2({HANDLE}, feature_ids: int32, dimension_ids: num_features * int32, {_SPLITS}, "
    "split_types: num_features * string, max_depth: int32, learning_rate: float32, pruning_mode: int32) -> ()",
    "num_features: int >= 0",
    f"update_boosted_trees_v2(tree_ensemble_handle, feature_ids, dimension_ids, {_SPLIT_NAMES}, split_types, "
    "max_depth, learning_rate, pruning_mode | num_features)",
    [None, 1, _VECTORS, _VECTORS, _VECTORS, _VECTORS, _MATRICES, _MATRICES, _VECTORS, None, None, None],
)
boosted_trees_center_bias = define(
    f"BoostedTreesCenterBias({HANDLE}, mean_gradients: float32, mean_hessians: float32, l1: float32, l2: float32) -> "
    "(continue_centering: bool)",
    "",
    "center_boosted_trees_bias(tree_ensemble_handle, mean_gradients, mean_hessians, l1, l2)",
    [None, 2, 2, 0, 0],
    [()],
)

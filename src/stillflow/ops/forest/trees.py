"""Ops of random forests: trees, what is counted at their leaves, and how trees grow (contrib.tensor_forest)."""

from __future__ import annotations

from stillflow.ops.registry import define_op

_EXAMPLES = (
    "input_data: float32, sparse_input_indices: int64, sparse_input_values: float32, sparse_input_shape: int64"
)
_EXAMPLE_NAMES = "input_data, sparse_input_indices, sparse_input_values, sparse_input_shape"


def _define(signature, attrs, kernel, shapes, state=None):
    op = define_op(signature, attrs, kernel=kernel, stateful=True, differentiable=False, state=state)
    op.shape_rule(shapes if callable(shapes) else lambda context: shapes)
    return op


def _define_handle(name, kernel):
    return _define(
        f"{name}() -> (resource: resource)",
        "container: string = ''; shared_name: string = ''",
        f"{kernel}(| 'resource', container, shared_name, node_name)",
        (),
        state="op",
    )


def _count(context):
    """How many examples the dense ones are, if there are some."""
    dims = context.shapes[1]
    return dims[0] if dims and dims[0] else None


# ---- Trees -----------------------------------------------------------------------------------------------------

decision_tree_resource_handle_op = _define_handle("DecisionTreeResourceHandleOp", "tree_handle")
tree_is_initialized_op = _define(
    "TreeIsInitializedOp(tree_handle: resource) -> (is_initialized: bool)",
    "",
    "tree_is_initialized(tree_handle)",
    (),
)
create_tree_variable = _define(
    "CreateTreeVariable(tree_handle: resource, tree_config: string) -> ()",
    "params: string",
    "create_tree(tree_handle, tree_config | params)",
    [],
)
tree_serialize = _define(
    "TreeSerialize(tree_handle: resource) -> (tree_config: string)", "", "serialize_tree(tree_handle)", ()
)
tree_deserialize = _define(
    "TreeDeserialize(tree_handle: resource, tree_config: string) -> ()",
    "params: string",
    "deserialize_tree(tree_handle, tree_config | params)",
    [],
)
tree_size = _define("TreeSize(tree_handle: resource) -> (tree_size: int32)", "", "tree_size(tree_handle)", ())
tree_predictions_v4 = _define(
    f"TreePredictionsV4(tree_handle: resource, {_EXAMPLES}) -> (predictions: float32, tree_paths: string)",
    "input_spec: string; params: string",
    f"tree_predictions(tree_handle, {_EXAMPLE_NAMES} | input_spec, params)",
    lambda context: [(_count(context), None), (None,)],
)
traverse_tree_v4 = _define(
    f"TraverseTreeV4(tree_handle: resource, {_EXAMPLES}) -> (leaf_ids: int32)",
    "input_spec: string; params: string",
    f"traverse_tree(tree_handle, {_EXAMPLE_NAMES} | input_spec)",
    lambda context: (_count(context),),
)
update_model_v4 = _define(
    "UpdateModelV4(tree_handle: resource, leaf_ids: int32, input_labels: float32, input_weights: float32) -> ()",
    "params: string",
    "update_tree(tree_handle, leaf_ids, input_labels, input_weights | params)",
    [],
)
feature_usage_counts = _define(
    "FeatureUsageCounts(tree_handle: resource) -> (feature_counts: int32)",
    "params: string",
    "feature_usage_counts(tree_handle | params)",
    lambda context: (None,),
)

# ---- What leaves have counted ----------------------------------------------------------------------------------

fertile_stats_resource_handle_op = _define_handle("FertileStatsResourceHandleOp", "stats_handle")
fertile_stats_is_initialized_op = _define(
    "FertileStatsIsInitializedOp(stats_handle: resource) -> (is_initialized: bool)",
    "",
    "stats_is_initialized(stats_handle)",
    (),
)
create_fertile_stats_variable = _define(
    "CreateFertileStatsVariable(stats_handle: resource, stats_config: string) -> ()",
    "params: string",
    "create_stats(stats_handle, stats_config | params)",
    [],
)
fertile_stats_serialize = _define(
    "FertileStatsSerialize(stats_handle: resource) -> (stats_config: string)",
    "params: string",
    "serialize_stats(stats_handle)",
    (),
)
fertile_stats_deserialize = _define(
    "FertileStatsDeserialize(stats_handle: resource, stats_config: string) -> ()",
    "params: string",
    "deserialize_stats(stats_handle, stats_config | params)",
    [],
)
process_input_v4 = _define(
    f"ProcessInputV4(tree_handle: resource, stats_handle: resource, {_EXAMPLES}, input_labels: float32, "
    "input_weights: float32, leaf_ids: int32) -> (finished_nodes: int32)",
    "random_seed: int; input_spec: string; params: string",
    f"process_input(tree_handle, stats_handle, {_EXAMPLE_NAMES}, input_labels, input_weights, leaf_ids | "
    "random_seed, input_spec, params)",
    lambda context: (None,),
)
grow_tree_v4 = _define(
    "GrowTreeV4(tree_handle: resource, stats_handle: resource, finished_nodes: int32) -> ()",
    "params: string",
    "grow_tree(tree_handle, stats_handle, finished_nodes | params)",
    [],
)

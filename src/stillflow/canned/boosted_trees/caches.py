"""What training keeps of examples from step to step: where they are in the trees, and their buckets."""

from __future__ import annotations

from stillflow import ops
from stillflow.canned.boosted_trees.columns import count_features, transformed_and_known_features, transformed_columns
from stillflow.feature_columns.dense_categories import IndicatorColumn
from stillflow.functions.control_flow_v2 import cond_v2
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.variable import Variable

NO_NODE = -1


def state_variable(initial_value, trainable=False, name=None):
    """A variable of a step's state, of any shape."""
    return Variable(
        initial_value=initial_value, trainable=trainable, validate_shape=False, name=name, use_resource=True
    )


def cached_features(features, sorted_feature_columns, batch_size, bucket_boundaries, are_boundaries_ready):
    """(the buckets of all features, an operation that keeps them), of examples that are the same in every step."""
    count = count_features(sorted_feature_columns)
    cached = [
        state_variable(ops.zeros([batch_size], dtype=dtypes.int32), name=f"cached_feature_{i}") for i in range(count)
    ]
    are_cached = state_variable(False, name="are_features_cached")
    # Categories are looked up outside of the branches, where their tables are initialized.
    categories = [column for column in sorted_feature_columns if isinstance(column, IndicatorColumn)]
    others = [column for column in sorted_feature_columns if not isinstance(column, IndicatorColumn)]
    known = transformed_columns(features, categories) if categories else {}

    def transform():
        return transformed_and_known_features(features, others, sorted_feature_columns, bucket_boundaries, known)

    def transform_and_keep():
        kept = [variable.assign(value) for variable, value in zip(cached, transform(), strict=True)]
        with control_dependencies(kept):
            return kept, are_cached.assign(True)

    return cond_v2(
        are_boundaries_ready,
        lambda: (transform(), ops.no_op()),
        lambda: cond_v2(are_cached, lambda: (cached, ops.no_op()), transform_and_keep),
    )


@public("python.estimator.canned.boosted_trees._CacheTrainingStatesUsingHashTable")
class TableOfStates:
    """The tree, the node and the logits of each example, by its name.

    Args:
      example_ids: int64 or string [batch].
      logits_dimension: how many logits there are.

    Raises ValueError for names of other types or ranks.
    """

    def __init__(self, example_ids, logits_dimension):
        keys: tuple
        if example_ids.dtype == dtypes.int64:
            keys = -1 << 62, -1 << 61
        elif example_ids.dtype == dtypes.string:
            keys = "", "NEVER_USED_DELETED_KEY"
        else:
            raise ValueError(f"Unsupported example_id_feature dtype {example_ids.dtype}.")
        # Both numbers are kept as the floats that their bits are.
        self._table = ops.mutable_dense_hash_table_v2(
            empty_key=keys[0], deleted_key=keys[1], value_dtype=dtypes.float32, value_shape=[3]
        )
        self._example_ids = convert_to_tensor(example_ids)
        if self._example_ids.shape.ndims not in (None, 1):
            raise ValueError(f"example_id should have rank 1, but got {self._example_ids}")
        self._logits_dimension = logits_dimension

    def lookup(self):
        """(trees, nodes, logits) of the examples; a node of -1 for new ones."""
        found = ops.lookup_table_find_v2(self._table, self._example_ids, default_value=[0.0, NO_NODE, 0.0])
        trees, nodes, logits = ops.split(found, [1, 1, self._logits_dimension], axis=1)
        trees = ops.squeeze(ops.bitcast(trees, dtypes.int32))
        nodes = ops.squeeze(ops.bitcast(nodes, dtypes.int32))
        if self._example_ids.shape.ndims is not None:
            logits.set_shape([self._example_ids.shape[0], self._logits_dimension])
        return trees, nodes, logits

    def insert(self, tree_ids, node_ids, logits):
        """An operation that keeps them."""
        parts = [ops.expand_dims(ops.bitcast(ids, dtypes.float32), 1) for ids in (tree_ids, node_ids)]
        value = ops.concat([*parts, logits], axis=1, name="value_concat_for_cache_insert")
        return ops.lookup_table_insert_v2(self._table, self._example_ids, value)


@public("python.estimator.canned.boosted_trees._CacheTrainingStatesUsingVariables")
class VariablesOfStates:
    """The tree, the node and the logits of each example, of a batch that is the same in every step."""

    def __init__(self, batch_size, logits_dimension):
        self._tree_ids = state_variable(ops.zeros([batch_size], dtype=dtypes.int32), name="tree_ids_cache")
        self._node_ids = state_variable(NO_NODE * ops.ones([batch_size], dtype=dtypes.int32), name="node_ids_cache")
        self._logits = state_variable(
            ops.zeros([batch_size, logits_dimension], dtype=dtypes.float32), name="logits_cache"
        )

    def lookup(self):
        """(trees, nodes, logits) of the examples."""
        return self._tree_ids, self._node_ids, self._logits

    def insert(self, tree_ids, node_ids, logits):
        """An operation that keeps them."""
        return group(
            [self._tree_ids.assign(tree_ids), self._node_ids.assign(node_ids), self._logits.assign(logits)],
            name="cache_insert",
        )

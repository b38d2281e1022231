"""MutableHashTable, MutableDenseHashTable and the ops that change them: tables of values for keys."""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle, versions
from stillflow.ops.registry import define_op
from stillflow.ops.state.lookup_table import SHARED, TYPES, define_table

mutable_hash_table_v2, mutable_hash_table = define_table(
    "MutableHashTable", TYPES, "make_mutable_hash_table(| {made}, key_dtype, value_dtype)"
)
mutable_hash_table_of_tensors_v2, mutable_hash_table_of_tensors = define_table(
    "MutableHashTableOfTensors",
    f"{TYPES}; value_shape: shape = []",
    "make_mutable_hash_table_of_tensors(| {made}, key_dtype, value_dtype, value_shape)",
)
# The first version has no key for what was removed, without which TensorFlow does not make the table either.
mutable_dense_hash_table_v2 = define_op(
    "MutableDenseHashTableV2(empty_key: key_dtype, deleted_key: key_dtype) -> (table_handle: resource)",
    f"{SHARED}; {TYPES}; value_shape: shape = []; initial_num_buckets: int = 131072; max_load_factor: float = 0.8",
    kernel=f"make_dense_hash_table(empty_key, deleted_key | {HANDLES[2]}, container, shared_name, node_name, "
    "key_dtype, value_dtype, value_shape, initial_num_buckets, max_load_factor)",
    state="op",
    stateful=True,
    differentiable=False,
)
mutable_dense_hash_table_v2.shape_rule(shape_of_handle)


def _define_insert(handle, suffix, version):
    op = define_op(
        f"LookupTableInsert{suffix}(table_handle: {handle}, keys: Tin, values: Tout) -> ()",
        "Tin: type; Tout: type",
        kernel="lookup_table_insert(table_handle, keys, values)",
        stateful=version == 2,
        differentiable=False,
    )
    op.shape_rule(lambda context: [])
    return op


lookup_table_insert_v2, lookup_table_insert = versions(_define_insert)

lookup_table_remove_v2 = define_op(
    "LookupTableRemoveV2(table_handle: resource, keys: Tin) -> ()",
    "Tin: type",
    kernel="lookup_table_remove(table_handle, keys)",
    stateful=True,
    differentiable=None,
)


@lookup_table_remove_v2.shape_rule
def _(context):
    plain.with_rank_at_least(context.shapes[1], 1)
    return []

"""HashTable and the ops that fill it and read it: tables of values for keys.

Every op comes twice, as in TensorFlow: with a handle that is a reference to two strings, and with a resource.
"""

from __future__ import annotations

from stillflow.ops import dims as plain
from stillflow.ops.input.handle import HANDLES, shape_of_handle, versions
from stillflow.ops.registry import define_op

SHARED = "container: string = ''; shared_name: string = ''; use_node_name_sharing: bool = false"
TYPES = "key_dtype: type; value_dtype: type"


def define_table(name, attrs, kernel):
    """Both versions of the op that makes a table; {made} in `kernel` stands for what all such kernels are given."""

    def define(handle, suffix, version):
        made = f"{HANDLES[version]}, container, shared_name, node_name"
        op = define_op(
            f"{name}{suffix}() -> (table_handle: {handle})",
            f"{SHARED}; {attrs}",
            kernel=kernel.format(made=made),
            state="op",
            stateful=True,
            differentiable=False,
        )
        op.shape_rule(shape_of_handle)
        return op

    return versions(define)


hash_table_v2, hash_table = define_table("HashTable", TYPES, "make_hash_table(| {made}, key_dtype, value_dtype)")


def _initialize(name, types):
    def define(handle, suffix, version):
        keys, values = types.split()
        op = define_op(
            f"{name}{suffix}(table_handle: {handle}, keys: {keys}, values: {values}) -> ()",
            f"{keys}: type; {values}: type",
            kernel="initialize_table(table_handle, keys, values)",
            stateful=version == 2,
            differentiable=False if name == "InitializeTable" else None,
        )
        op.shape_rule(_check_pairs)
        return op

    return versions(define)


def _check_pairs(context):
    plain.merged(plain.with_rank(context.shapes[1], 1), context.shapes[2])
    return []


def _define_from_file(handle, suffix, version):
    op = define_op(
        f"InitializeTableFromTextFile{suffix}(table_handle: {handle}, filename: string) -> ()",
        "key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = '\t'",
        kernel="initialize_table_from_file(table_handle, filename | key_index, value_index, vocab_size, delimiter)",
        stateful=version == 2,
        differentiable=False,
    )
    op.shape_rule(_check_file)
    return op


def _check_file(context):
    plain.with_rank(context.shapes[1], 0)
    return []


initialize_table_v2, initialize_table = _initialize("InitializeTable", "Tkey Tval")
lookup_table_import_v2, lookup_table_import = _initialize("LookupTableImport", "Tin Tout")
initialize_table_from_text_file_v2, initialize_table_from_text_file = versions(_define_from_file)


def _define_find(handle, suffix, version):
    op = define_op(
        f"LookupTableFind{suffix}(table_handle: {handle}, keys: Tin, default_value: Tout) -> (values: Tout)",
        "Tin: type; Tout: type",
        kernel="lookup_table_find(table_handle, keys, default_value)",
        stateful=version == 2,
        differentiable=False,
    )
    op.shape_rule(_unknown)
    return op


def _unknown(context):
    """A handle says nothing of the values; tf.lookup sets their shape."""
    return


def _define_size(handle, suffix, version):
    op = define_op(
        f"LookupTableSize{suffix}(table_handle: {handle}) -> (size: int64)",
        kernel="lookup_table_size(table_handle)",
        stateful=version == 2,
        differentiable=False,
    )
    op.shape_rule(lambda context: ())
    return op


def _define_export(handle, suffix, version):
    op = define_op(
        f"LookupTableExport{suffix}(table_handle: {handle}) -> (keys: Tkeys, values: Tvalues)",
        "Tkeys: type; Tvalues: type",
        kernel="lookup_table_export(table_handle | Tkeys, Tvalues)",
        stateful=version == 2,
        differentiable=None,
    )
    op.shape_rule(lambda context: [(None,), None])
    return op


lookup_table_find_v2, lookup_table_find = versions(_define_find)
lookup_table_size_v2, lookup_table_size = versions(_define_size)
lookup_table_export_v2, lookup_table_export = versions(_define_export)

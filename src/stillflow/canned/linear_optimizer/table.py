"""A hash table in several parts, which keeps the states of examples."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saveable import SaveableObject, SaveSpec


class _Saveable(SaveableObject):
    def __init__(self, table, name):
        keys, values = table.export()
        specs = [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")]
        super().__init__(table.handle, specs, name)
        self._table = table

    def restore(self, restored_tensors, restored_shapes):
        return ops.lookup_table_import_v2(self._table.handle, *restored_tensors)


class _Part:
    """One table, of the nodes that TensorFlow makes."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, name, checkpoint):
        self._types = key_dtype, value_dtype
        self._default = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        self.value_shape = self._default.shape
        empty = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        deleted = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        self.handle = ops.mutable_dense_hash_table_v2(
            empty_key=empty, deleted_key=deleted, use_node_name_sharing=checkpoint, value_dtype=value_dtype,
            value_shape=self.value_shape, name=name,
        )  # fmt: skip
        self._name = self.handle.op.name.split("/")[-1]
        if checkpoint:
            saveable = _Saveable(self, self._name)
            get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, saveable)

    def _scope(self, what, name=None):
        return name_scope(name, f"{self._name}_{what}")

    def size(self):
        with self._scope("Size") as scope:
            return ops.lookup_table_size_v2(self.handle, name=scope)

    def lookup(self, keys, name=None):
        with self._scope("lookup_table_find", name) as scope:
            return ops.lookup_table_find_v2(self.handle, keys, self._default, name=scope)

    def insert(self, keys, values, name=None):
        with self._scope("lookup_table_insert", name) as scope:
            values = convert_to_tensor(values, dtype=self._types[1], name="values")
            return ops.lookup_table_insert_v2(self.handle, keys, values, name=scope)

    def export(self):
        with self._scope("lookup_table_export_values") as scope:
            keys, values = ops.lookup_table_export_v2(
                self.handle, Tkeys=self._types[0], Tvalues=self._types[1], name=scope
            )
        return keys, values


@public(
    "python.estimator.canned.linear_optimizer.python.utils.sharded_mutable_dense_hashtable"
    "._ShardedMutableDenseHashTable"
)
class ShardedTable:
    """A hash table whose keys are spread over several tables, by what remains of them.

    Args:
      key_dtype, value_dtype: the types.
      default_value: of keys that are not there.
      empty_key, deleted_key: keys that are not used.
      num_shards: how many tables there are.
      checkpoint: whether Savers save them.
      name: what the tables' names begin with.
    """

    def __init__(
        self, key_dtype, value_dtype, default_value, empty_key, deleted_key, num_shards=1, checkpoint=True,
        name="ShardedMutableHashTable",
    ):  # fmt: skip
        self._key_dtype = dtypes.as_dtype(key_dtype)
        with name_scope(name, "sharded_mutable_hash_table") as scope:
            self._name = scope
            self._parts = [
                _Part(
                    self._key_dtype, dtypes.as_dtype(value_dtype), default_value, empty_key, deleted_key,
                    f"{name}-{i + 1}-of-{num_shards}", checkpoint,
                )
                for i in range(num_shards)
            ]  # fmt: skip

    @property
    def name(self):
        return self._name

    def size(self, name=None):
        """How many keys there are."""
        with name_scope(name, "sharded_mutable_hash_table_size"):
            return ops.add_n([part.size() for part in self._parts])

    def _checked(self, keys):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        if keys.shape.ndims not in (1, 2):
            raise ValueError(f"Expected a vector or matrix for keys, got {keys.shape}.")

    def _part_of(self, keys):
        if keys.shape.ndims > 1:
            keys = ops.reshape(ops.slice(keys, [0, 0], [-1, 1]), [-1])
        return ops.cast(ops.mod(ops.abs(keys), len(self._parts)), dtypes.int32)

    def lookup(self, keys, name=None):
        """The values of keys, a vector or, of vectors, a matrix. Raises TypeError or ValueError for other keys."""
        self._checked(keys)
        count = len(self._parts)
        if count == 1:
            return self._parts[0].lookup(keys, name=name)
        places = self._part_of(keys)
        spread = ops.dynamic_partition(keys, places, count)
        values = [part.lookup(each, name=name) for part, each in zip(self._parts, spread, strict=True)]
        order = ops.dynamic_partition(ops.range(ops.shape(keys)[0]), places, count)
        found = ops.dynamic_stitch(order, values)
        found.set_shape(keys.shape[:1].concatenate(self._parts[0].value_shape))
        return found

    def insert(self, keys, values, name=None):
        """An operation that keeps values under keys. Raises TypeError or ValueError for other keys."""
        self._checked(keys)
        count = len(self._parts)
        if count == 1:
            return self._parts[0].insert(keys, values, name=name)
        places = self._part_of(keys)
        keys_of = ops.dynamic_partition(keys, places, count)
        values_of = ops.dynamic_partition(values, places, count)
        return group(*[
            part.insert(keys_of[i], values_of[i], name=name) for i, part in enumerate(self._parts)
        ])  # fmt: skip

    def export_sharded(self, name=None):
        """(the keys, the values) of each table."""
        with name_scope(name, "sharded_mutable_hash_table_export"):
            exported = [part.export() for part in self._parts]
        return [keys for keys, _ in exported], [values for _, values in exported]

"""Tables of values for keys that programs change, and that checkpoints have."""

from __future__ import annotations

import functools
import itertools

from stillflow import ops
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.lookup import Table
from stillflow.saver.saveable import SaveableObject, SaveSpec

_numbers = itertools.count()


@by_mode
def _register(table, name):
    """Has Savers save the table. Returns nothing."""
    get_default_graph().add_to_collection(GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(table, name))


@eager_version_of(_register)
def _leave_to_checkpoints(table, name):
    """Checkpoints of objects find the table by themselves."""


@by_mode
def _shared_name():
    return None


@eager_version_of(_shared_name)
def _own_name():
    return f"table_{next(_numbers)}"


class _TableSaveable(SaveableObject):
    """A table in checkpoints: its keys and its values."""

    def __init__(self, table, name):
        keys, values = table.export()
        super().__init__(table, [SaveSpec(keys, "", f"{name}-keys"), SaveSpec(values, "", f"{name}-values")], name)

    def restore(self, restored_tensors, restored_shapes, name=None):
        del restored_shapes
        keys, values = restored_tensors
        table = self.op
        with name_scope(name, f"{self.name}_table_restore"), table._placed():
            return ops.lookup_table_import_v2(table.resource_handle, keys, values)


class _MutableTable(Table):
    """What tables that programs change have. `_make` adds the node that makes one."""

    _default_value: Tensor
    _key_rank = 0

    def __init__(self, key_dtype, value_dtype, name, checkpoint):
        super().__init__(key_dtype, value_dtype)
        self._name = name
        self._checkpoint = checkpoint
        self._shared_name = _shared_name()
        self._resource_handle = self._create_resource()
        self._table_name = None if self._shared_name else self._resource_handle.op.name.split("/")[-1]
        if checkpoint:
            _register(self, name)

    def _make(self, **options):
        raise NotImplementedError

    def _create_resource(self):
        return self._make(
            shared_name=self._shared_name, use_node_name_sharing=self._checkpoint and self._shared_name is None,
            name=self._name,
        )  # fmt: skip

    def _placed(self):
        return get_default_graph().colocate_with(self.resource_handle)

    @property
    def name(self):
        return self._table_name

    def size(self, name=None):
        """How many keys there are, int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]), self._placed():
            return ops.lookup_table_size_v2(self.resource_handle)

    def lookup(self, keys, name=None):
        """The values for keys: of their shape, and that of a value. Raises TypeError for other keys."""
        with name_scope(name, f"{self.name}_lookup_table_find", [self.resource_handle, keys, self._default_value]):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            with self._placed():
                values = ops.lookup_table_find_v2(self.resource_handle, keys, self._default_value)
            if keys.shape.rank is not None and keys.shape.rank >= self._key_rank:
                of_keys = keys.shape[: keys.shape.rank - self._key_rank]
                values.set_shape(of_keys.concatenate(self._default_value.shape))
            return values

    def insert(self, keys, values, name=None):
        """An operation that gives values to keys. Raises TypeError for other types."""
        with name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            keys = convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            values = convert_to_tensor(values, dtype=self._value_dtype, name="values")
            with self._placed():
                return ops.lookup_table_insert_v2(self.resource_handle, keys, values)

    def remove(self, keys, name=None):
        """An operation that removes keys; those that are not there are no error. Raises TypeError for other keys."""
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        with name_scope(name, f"{self.name}_lookup_table_remove", [self.resource_handle, keys, self._default_value]):
            return ops.lookup_table_remove_v2(self.resource_handle, keys)

    def export(self, name=None):
        """(keys, values): all of them."""
        with name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]), self._placed():
            return ops.lookup_table_export_v2(self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype)

    def _gather_saveables_for_checkpoint(self):
        return {"table": functools.partial(_TableSaveable, table=self, name=self._name)}


@public("contrib.lookup.MutableHashTable", "python.ops.lookup_ops.MutableHashTable")
class MutableHashTable(_MutableTable):
    """A table of values for keys, empty at first.

    Args:
      key_dtype, value_dtype: int32, int64 or string, and what else TensorFlow has values of.
      default_value: the value of keys that are not there: a scalar, or a vector where values are vectors.
      name: the node's name.
      checkpoint: whether Savers save it.
    """

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True):
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype)
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _make(self, **options):
        types = {"key_dtype": self._key_dtype, "value_dtype": self._value_dtype}
        shape = self._default_value.shape
        if shape.rank == 0:
            return ops.mutable_hash_table_v2(**types, **options)
        return ops.mutable_hash_table_of_tensors_v2(**types, value_shape=shape, **options)


@public(
    "lookup.experimental.DenseHashTable", "contrib.lookup.MutableDenseHashTable",
    "python.ops.lookup_ops.DenseHashTable",
)  # fmt: skip
class DenseHashTable(_MutableTable):
    """A table of values for keys that keeps both in buckets, among which a key's is found by its hash.

    Args:
      key_dtype, value_dtype: int32, int64 or string, and what else TensorFlow has values of.
      default_value: the value of keys that are not there.
      empty_key: stands in the buckets for no key. It must not be used otherwise.
      deleted_key: stands in the buckets for a key that was removed. It must not be used otherwise.
      initial_num_buckets: a power of two; 131072 by default.
      name: the node's name.
      checkpoint: whether Savers save it.
    """

    def __init__(
        self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
        name="MutableDenseHashTable", checkpoint=True,
    ):  # fmt: skip
        self._default_value = convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        self._empty_key = convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        self._key_rank = self._empty_key.shape.rank or 0
        self._bucket_count = initial_num_buckets
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _make(self, **options):
        if self._bucket_count is not None:
            options["initial_num_buckets"] = self._bucket_count
        return ops.mutable_dense_hash_table_v2(
            empty_key=self._empty_key,
            deleted_key=self._deleted_key,
            value_dtype=self._value_dtype,
            value_shape=self._default_value.shape,
            **options,
        )

    def insert_or_assign(self, keys, values, name=None):
        """The same as insert."""
        return self.insert(keys, values, name)

    def erase(self, keys, name=None):
        """The same as remove."""
        return self.remove(keys, name)

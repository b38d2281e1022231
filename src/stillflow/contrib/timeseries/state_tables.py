"""Tables of states, nested tuples of tensors, by int64 keys; and states for each row of a batch."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.lookup.mutable_tables import DenseHashTable
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.lookup import Table


@public("contrib.timeseries.python.timeseries.math_utils.TensorValuedMutableDenseHashTable")
class TensorValuedMutableDenseHashTable(DenseHashTable):
    """A MutableDenseHashTable whose values are tensors of the shape that `default_value` has."""

    def __init__(self, key_dtype, value_dtype, default_value, *args, **kwargs):
        self._value_shape = ops.shape(default_value)
        super().__init__(key_dtype, value_dtype, ops.reshape(default_value, [-1]), *args, **kwargs)

    def insert(self, keys, values, name=None):
        """Puts in values [keys' shape, value's shape]."""
        flat = ops.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        return super().insert(flat, ops.reshape(values, [ops.shape(flat)[0], -1]), name)

    def lookup(self, keys, name=None):
        """The values of keys, [keys' shape, value's shape]."""
        flat = ops.reshape(convert_to_tensor(keys, dtype=self._key_dtype), [-1])
        found = super().lookup(flat, name)
        return ops.reshape(found, ops.concat([ops.shape(keys), self._value_shape], 0))


@public("contrib.timeseries.python.timeseries.math_utils.TupleOfTensorsLookup")
class TupleOfTensorsLookup(Table):
    """A table for each tensor of a nested tuple.

    Args:
      key_dtype: the type of keys.
      default_values: the tuple of keys that are not there.
      empty_key, deleted_key: as MutableDenseHashTable has them.
      name: what the names of tables begin with.
      checkpoint: whether Savers save them.
    """

    def __init__(self, key_dtype, default_values, empty_key, deleted_key, name, checkpoint=True):
        tables = [
            TensorValuedMutableDenseHashTable(
                key_dtype=key_dtype,
                value_dtype=value.dtype.base_dtype,
                default_value=value,
                empty_key=empty_key,
                deleted_key=deleted_key,
                name=f"{name}_{number}",
                checkpoint=checkpoint,
            )
            for number, value in enumerate(nest.flatten(default_values))
        ]
        self._hash_tables = nest.pack_sequence_as(default_values, tables)
        self._name = name

    def lookup(self, keys):
        """The tuples of keys."""
        found = [table.lookup(keys) for table in nest.flatten(self._hash_tables)]
        return nest.pack_sequence_as(self._hash_tables, found)

    def insert(self, keys, values):
        """An operation that puts in tuples."""
        nest.assert_same_structure(self._hash_tables, values)
        flat = [ops.identity(value) for value in nest.flatten(values)]
        with control_dependencies(flat):
            inserts = [
                table.insert(keys, value) for table, value in zip(nest.flatten(self._hash_tables), flat, strict=True)
            ]
        return group(*inserts)

    def check_table_dtypes(self, key_dtype, value_dtype):
        """Does nothing: each of the tables checks."""


@public("contrib.timeseries.python.timeseries.math_utils.replicate_state")
def replicate_state(start_state, batch_size):
    """A state, a nested tuple of tensors, for each row of a batch."""
    found = [
        ops.tile(
            ops.expand_dims(part, 0), ops.concat([[batch_size], ops.ones([ops.rank(part)], dtype=dtypes.int32)], 0)
        )
        for part in nest.flatten(start_state)
    ]
    return nest.pack_sequence_as(start_state, found)


@public("contrib.timeseries.python.timeseries.math_utils.batch_start_time")
def batch_start_time(times):
    """The first times of windows [batch, window]."""
    return times[:, 0]


@public("contrib.timeseries.python.timeseries.math_utils.batch_end_time")
def batch_end_time(times):
    """The last times of windows [batch, window]."""
    return times[:, -1]

"""Tables of numbers for words; unknown words share buckets, further numbers, by their hashes."""

from __future__ import annotations

import functools
import numbers
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.resources.lookup import StaticHashTable, Table

# ---- How unknown words become numbers -------------------------------------------------------------------------


@public("contrib.lookup.HasherSpec", "python.ops.lookup_ops.HasherSpec")
class HasherSpec(NamedTuple):
    """How words become numbers: "fasthash", "legacy", or "stronghash" with a key."""

    hasher: str
    key: Any


FastHashSpec = public("contrib.lookup.FastHashSpec", "python.ops.lookup_ops.FastHashSpec")(
    HasherSpec("fasthash", None)
)


@public("contrib.lookup.StrongHashSpec", "python.ops.lookup_ops.StrongHashSpec")
class StrongHashSpec(HasherSpec):
    """Hashes that cannot be foreseen without the key, two integers. Raises ValueError or TypeError for others."""

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, numbers.Integral) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hash_function(spec):
    if not isinstance(spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec {spec}")
    if spec.hasher == "fasthash":
        return ops.string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return ops.string_to_hash_bucket
    if spec.hasher == "stronghash":
        return functools.partial(ops.string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


# ---- Tables ---------------------------------------------------------------------------------------------------


class _TableWithBuckets(Table):
    """Numbers for words: those of a table, and for unknown words the numbers of buckets, which follow.

    Args:
      table: a table from words or integers to int64, or None for buckets alone.
      num_oov_buckets: how many buckets there are.
      hasher_spec: a HasherSpec.
      name: of the nodes; by default the table's.
      key_dtype: the type of keys.

    Raises TypeError for types that do not fit.
    """

    def __init__(self, table, num_oov_buckets, hasher_spec, name, key_dtype):
        if not (key_dtype.is_integer or key_dtype == dtypes.string):
            raise TypeError(f"Invalid key_dtype, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        name = name.rstrip("/") if name else name
        name = name or ("hash_bucket" if table is None else table.name)
        self._table = table
        self._bucket_count = num_oov_buckets
        self._hasher_spec = hasher_spec
        self._table_name = name.split("/")[-1]
        super().__init__(key_dtype, dtypes.int64)
        if table is not None:
            self._track_trackable(table, "_table")

    @property
    def resource_handle(self):
        return None if self._table is None else self._table.resource_handle

    @property
    def name(self):
        return self._table_name

    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._initialize() if self._table is None else self._table.initializer

    def _create_resource(self):
        return None if self._table is None else self._table._create_resource()

    def _initialize(self):
        if self._table is not None:
            return self._table._initialize()
        with name_scope(None, "init"):
            return ops.no_op()

    def size(self, name=None):
        """How many numbers there are, with those of buckets, int64."""
        with name_scope(name, f"{self.name}_Size"):
            count = convert_to_tensor(0, dtype=dtypes.int64) if self._table is None else self._table.size()
            return count + self._bucket_count

    def lookup(self, keys, name=None):
        """The numbers for keys, int64 of their shape; a SparseTensor for a SparseTensor.

        Raises TypeError for keys of another type.
        """
        self._check_keys(keys)
        values = keys.values if isinstance(keys, SparseTensor) else keys
        if self._table is not None and self._table.key_dtype.base_dtype == dtypes.int64:
            values = ops.cast(values, dtypes.int64)
        if self._bucket_count == 0:
            found = self._table.lookup(values, name=name)
        else:
            with name_scope(name, f"{self.name}_Lookup"):
                found = self._with_buckets(values)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, found, keys.dense_shape)
        return found

    def _with_buckets(self, values):
        texts = values if values.dtype.base_dtype == dtypes.string else ops.as_string(values)
        buckets = _hash_function(self._hasher_spec)(texts, num_buckets=self._bucket_count, name="hash_bucket")
        if self._table is None:
            return buckets
        found = self._table.lookup(values)
        buckets = ops.add(buckets, self._table.size())
        return ops.where_v2(ops.not_equal(found, self._table.default_value), found, buckets)


@public("lookup.StaticVocabularyTable")
class StaticVocabularyTable(_TableWithBuckets):
    """Numbers for words: those of a table, and for words that are not there numbers of buckets, by their hashes.

    Args:
      initializer: what fills the table, with values int64 from 0 on; None for buckets alone.
      num_oov_buckets: how many buckets there are.
      lookup_key_dtype: the type of keys; by default the initializer's, or string.
      name: the node's name.

    Raises:
      ValueError: unless there is a bucket.
      TypeError: for types that do not fit.
    """

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None):
        if num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0.")
        table, key_dtype = None, dtypes.string
        if initializer:
            key_dtype = _checked_key_dtype(initializer, lookup_key_dtype)
            table = StaticHashTable(initializer, -1)
        super().__init__(table, num_oov_buckets, FastHashSpec, name, key_dtype)


@public("python.ops.lookup_ops.IdTableWithHashBuckets")
@public("contrib.lookup.IdTableWithHashBuckets")
class IdTableWithHashBuckets(_TableWithBuckets):
    """Numbers for words: those of a table, and for words that are not there numbers of buckets, by their hashes.

    Args:
      table: a table from words or integers to int64, or None.
      num_oov_buckets: how many buckets there are.
      hasher_spec: FastHashSpec or a StrongHashSpec.
      name: of the nodes.
      key_dtype: the type of keys, by default the table's.

    Raises TypeError for types that do not fit, ValueError for neither a table nor a bucket.
    """

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec, name=None, key_dtype=None):
        if table is not None:
            key_dtype = _checked_key_dtype(table, key_dtype)
        elif num_oov_buckets <= 0:
            raise ValueError("oov_buckets must be > 0 if no table is supplied.")
        super().__init__(table, num_oov_buckets, hasher_spec, name, key_dtype or dtypes.string)

    @property
    def init(self):
        """The older name of `initializer`."""
        return self.initializer


def _checked_key_dtype(initializer, key_dtype):
    """The type of keys for a table or an initializer of one. Raises TypeError for types that do not fit."""
    supported = (dtypes.int64, dtypes.string)
    key_dtype = initializer.key_dtype if key_dtype is None else dtypes.as_dtype(key_dtype)
    if initializer.key_dtype not in supported:
        raise TypeError(f"Invalid key dtype, expected one of {supported}, but got {key_dtype}.")
    if initializer.key_dtype.is_integer != key_dtype.is_integer:
        expected = "integer" if key_dtype.is_integer else "non-integer"
        raise TypeError(f"Invalid key dtype, expected {expected} but got {initializer.key_dtype}.")
    if initializer.value_dtype != dtypes.int64:
        raise TypeError(f"Invalid value dtype, expected {dtypes.int64} but got {initializer.value_dtype}.")
    return key_dtype

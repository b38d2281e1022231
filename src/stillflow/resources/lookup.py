"""tf.lookup: tables of values for keys, which an operation fills once, from tensors or a file."""

from __future__ import annotations

import uuid

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.resources.trackable import TrackableAsset, TrackableResource
from stillflow.tracking.base import Trackable

# ---- What fills tables ------------------------------------------------------------------------------------------


@public("contrib.lookup.TableInitializerBase")
class _Initializer(Trackable):
    """What fills a table. `initialize(table)` adds the operation that does it."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    @property
    def _shared_name(self):
        """The name of tables that are one; none for tables of their own."""
        return ""

    def initialize(self, table):
        raise NotImplementedError

    def _check_types(self, table):
        for what, own, expected in (
            ("key", self._key_dtype, table.key_dtype),
            ("value", self._value_dtype, table.value_dtype),
        ):
            if own.base_dtype != expected:
                raise TypeError(f"Invalid {what} dtype, expected {expected} but got {own}.")


def _is_in_control_flow():
    return get_default_graph()._get_control_flow_context() is not None


@public("lookup.KeyValueTensorInitializer", "contrib.lookup.KeyValueTensorInitializer")
class KeyValueTensorInitializer(_Initializer):
    """Fills a table with keys and values that are tensors.

    Args:
      keys, values: vectors of one length, or what becomes such.
      key_dtype, value_dtype: their types, by default those they have.
      name: the scope of the node, "key_value_init" by default.
    """

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        if _is_in_control_flow():
            with init_scope():
                self._convert(keys, values, key_dtype, value_dtype)
        else:
            self._convert(keys, values, key_dtype, value_dtype)
        self._name = "key_value_init" if name is None else name
        super().__init__(self._keys.dtype, self._values.dtype)

    def _convert(self, keys, values, key_dtype, value_dtype):
        self._keys = convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = convert_to_tensor(values, dtype=value_dtype, name="values")

    def initialize(self, table):
        """Adds the operation that fills a table. Raises TypeError for one of other types."""
        self._check_types(table)
        with name_scope(self._name, values=[table.resource_handle, self._keys, self._values]):
            op = ops.lookup_table_import_v2(table.resource_handle, self._keys, self._values)
        get_default_graph().add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        return op


@public("lookup.TextFileIndex", "contrib.lookup.TextFileIndex", "python.ops.lookup_ops.TextFileIndex")
class TextFileIndex:
    """What of a line of a file is a key or value, other than a column: the whole line, or its number."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


@public("lookup.TextFileInitializer", "contrib.lookup.TextFileInitializer")
class TextFileInitializer(_Initializer):
    """Fills a table with keys and values out of the lines of a file.

    Args:
      filename: a string, or a scalar tensor.
      key_dtype, value_dtype: their types.
      key_index, value_index: which column of a line each is, or one of TextFileIndex.
      vocab_size: how many lines there are to be at least, of which as many are read; None for all.
      delimiter: the character between columns.
      name: the scope of the node, "text_file_init" by default.

    Raises:
      ValueError: for no file name, a wrong index or size, or types that do not suit TextFileIndex.
    """

    def __init__(
        self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t", name=None
    ):
        if not isinstance(filename, Tensor) and not filename:
            raise ValueError(f"Filename required for {name}.")
        super().__init__(key_dtype, value_dtype)
        self._check_column("key", key_index, self.key_dtype)
        self._check_column("value", value_index, self.value_dtype)
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(f"Invalid vocab_size {vocab_size}.")
        self._filename_arg = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._filename = self._track_trackable(TrackableAsset(filename), "_filename")

    @staticmethod
    def _check_column(what, index, dtype):
        if index < -2:
            raise ValueError(f"Invalid {what} index {index}.")
        if index == TextFileIndex.LINE_NUMBER and dtype != dtypes.int64:
            raise ValueError(f"Signature mismatch. {what.capitalize()}s must be dtype {dtypes.int64}, got {dtype}.")
        if index != TextFileIndex.WHOLE_LINE or dtype == dtypes.string:
            return
        if what == "value":
            raise ValueError(f"Signature mismatch. Values must be dtype {dtypes.string}, got {dtype}.")
        if not dtype.is_integer:
            raise ValueError(f"Signature mismatch. Keys must be integer or string, got {dtype}.")

    def initialize(self, table):
        """Adds the operation that fills a table. Raises TypeError for one of other types."""
        self._check_types(table)
        graph = get_default_graph()
        with name_scope(self._name, "text_file_init", [table.resource_handle]):
            filename = convert_to_tensor(self._filename, dtypes.string, name="asset_filepath")
            op = ops.initialize_table_from_text_file_v2(
                table.resource_handle,
                filename,
                key_index=self._key_index,
                value_index=self._value_index,
                vocab_size=-1 if self._vocab_size is None else self._vocab_size,
                delimiter=self._delimiter,
            )
        graph.add_to_collection(GraphKeys.TABLE_INITIALIZERS, op)
        if filename._op.type == "Const":
            graph.add_to_collection(GraphKeys.ASSET_FILEPATHS, filename)
        return op

    @property
    def _shared_name(self):
        """Tables of one file are one table."""
        parts = [self._filename_arg, self._vocab_size, self._key_index, self._value_index]
        return "_".join(["hash_table", *[str(part) for part in parts if part is not None]])


# ---- Tables -----------------------------------------------------------------------------------------------------


@public("contrib.lookup.LookupInterface")
class Table(TrackableResource):
    """What all tables have."""

    def __init__(self, key_dtype, value_dtype):
        super().__init__()
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        return self._key_dtype

    @property
    def value_dtype(self):
        return self._value_dtype

    def _check_keys(self, keys):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype!r}, got {keys.dtype!r}.")


@public("contrib.lookup.InitializableLookupTableBase", "python.ops.lookup_ops.InitializableLookupTableBase")
class InitializableLookupTableBase(Table):
    """A table that its initializer fills once. Subclasses make it in `_create_resource`, and have a `name`.

    Args:
      default_value: a scalar, for keys that are not there.
      initializer: what fills the table, whose types are the table's.
    """

    def __init__(self, default_value, initializer):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.shape.merge_with([])
        self._initializer = self._track_trackable(initializer, "_initializer")
        with init_scope():
            self._resource_handle = self._create_resource()
        if _is_in_control_flow():
            with init_scope():
                self._init_op = self._initialize()
        else:
            self._init_op = self._initialize()

    def _initialize(self):
        return self._initializer.initialize(self)

    @property
    def name(self):
        """What the names of nodes begin with that use the table."""
        raise NotImplementedError

    @property
    def default_value(self):
        return self._default_value

    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._init_op

    def size(self, name=None):
        """How many keys there are, int64."""
        with name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return ops.lookup_table_size_v2(self.resource_handle)

    def lookup(self, keys, name=None):
        """The values for keys, of their shape; a SparseTensor for a SparseTensor. Raises TypeError for other keys."""
        tensor = keys.values if isinstance(keys, SparseTensor) else keys
        self._check_keys(keys)
        with name_scope(name, f"{self.name}_Lookup", [self.resource_handle, tensor, self._default_value]):
            values = ops.lookup_table_find_v2(self.resource_handle, tensor, self._default_value)
        values.set_shape(tensor.shape)
        if isinstance(keys, SparseTensor):
            return SparseTensor(keys.indices, values, keys.dense_shape)
        return values


@public("python.ops.lookup_ops.StaticHashTable", "python.ops.lookup_ops.HashTable")
@public("lookup.StaticHashTable")
class StaticHashTable(InitializableLookupTableBase):
    """A table that its initializer fills once.

    Args:
      initializer: a KeyValueTensorInitializer or TextFileInitializer, whose types are the table's.
      default_value: a scalar, for keys that are not there.
      name: the node's name, "hash_table" by default.

    A run that reads it before `initializer`, or tf.tables_initializer, has run fails with FailedPreconditionError.
    """

    def __init__(self, initializer, default_value, name=None):
        self._shared_name = self._name_for_sharing(initializer)
        self._name = name or "hash_table"
        super().__init__(default_value, initializer)

    def _name_for_sharing(self, initializer):
        return initializer._shared_name or f"hash_table_{uuid.uuid4()}"

    def _create_resource(self):
        handle = ops.hash_table_v2(
            shared_name=self._shared_name, key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._name
        )
        self._table_name = handle.op.name.split("/")[-1]
        return handle

    @property
    def name(self):
        return self._table_name

    def export(self, name=None):
        """(keys, values), all of them, in the order in which they came."""
        with name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = ops.lookup_table_export_v2(
                self.resource_handle, Tkeys=self._key_dtype, Tvalues=self._value_dtype
            )
        values.set_shape(keys.shape.concatenate(self._default_value.shape))
        return keys, values

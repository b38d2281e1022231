"""tf.contrib.lookup.index_table_from_tensor and index_table_from_file: the numbers of the entries of a vocabulary."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.bucket_tables import FastHashSpec, IdTableWithHashBuckets
from stillflow.resources.lookup import (
    KeyValueTensorInitializer,
    StaticHashTable,
    TextFileIndex,
    TextFileInitializer,
)

# ---- From a vocabulary to numbers ---------------------------------------------------------------------------------


def _check(num_oov_buckets, key_dtype):
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if not (key_dtype.is_integer or key_dtype.base_dtype == dtypes.string):
        raise TypeError("Only integer and string keys are supported.")


def _check_size(vocab_size, vocabulary_file):
    if vocab_size is not None and vocab_size < 1:
        if isinstance(vocabulary_file, Tensor):
            vocabulary_file = constant_value(vocabulary_file) or "?"
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {vocabulary_file}")


@public("contrib.lookup.index_table_from_file", "python.ops.lookup_ops.index_table_from_file")
def index_table_from_file(
    vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=FastHashSpec,
    key_dtype=dtypes.string, name=None, key_column_index=TextFileIndex.WHOLE_LINE,
    value_column_index=TextFileIndex.LINE_NUMBER, delimiter="\t",
):  # fmt: skip
    """A table of the numbers of a file's lines.

    Args:
      vocabulary_file: its path, a string or a tensor.
      num_oov_buckets: how many numbers there are for what is not in it.
      vocab_size: how many lines count.
      default_value: the number of what is not in it, if there are no buckets.
      hasher_spec: how buckets are found.
      key_dtype: the type of the entries.
      name: of the nodes.
      key_column_index, value_column_index, delimiter: as for tf.lookup.TextFileInitializer.

    Raises ValueError without a file and for wrong numbers, TypeError for other types.
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if num_oov_buckets >= 0:
        _check_size(vocab_size, vocabulary_file)
    _check(num_oov_buckets, key_dtype)
    with name_scope(name, "string_to_index"):
        with name_scope(None, "hash_table"):
            initializer = TextFileInitializer(
                vocabulary_file,
                dtypes.int64 if key_dtype.is_integer else key_dtype,
                key_column_index,
                dtypes.int64,
                value_column_index,
                vocab_size=vocab_size,
                delimiter=delimiter,
                name="table_init",
            )
            table = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=key_dtype)
        return table


@public("python.ops.lookup_ops.index_table_from_tensor")
def index_table_from_tensor(
    vocabulary_list, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """A table of the numbers of a vector's elements.

    Args:
      vocabulary_list: the vector, of strings or integers.
      num_oov_buckets, default_value, hasher_spec, name: as for index_table_from_file.
      dtype: the type of keys.

    Raises ValueError without a vector, for wrong numbers, and elements of another type; TypeError for other types.
    """
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    _check(num_oov_buckets, dtype)
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            expected = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {expected}, got {keys.dtype!r}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype!r}, got {keys.dtype!r}.")
        values = ops.cast(ops.range(ops.size(keys)), dtypes.int64)
        with name_scope(None, "hash_table"):
            if keys.dtype.is_integer:
                keys = ops.cast(keys, dtypes.int64)
            initializer = KeyValueTensorInitializer(
                keys, values, keys.dtype.base_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
        if num_oov_buckets:
            return IdTableWithHashBuckets(table, num_oov_buckets, hasher_spec, key_dtype=dtype)
        return table


# ---- And back -----------------------------------------------------------------------------------------------------


@public("contrib.lookup.index_to_string_table_from_file", "python.ops.lookup_ops.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file, vocab_size=None, default_value="UNK", name=None, key_column_index=TextFileIndex.LINE_NUMBER,
    value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t",
):  # fmt: skip
    """A table of a file's lines by their numbers. The arguments are index_table_from_file's.

    Raises ValueError without a file and for a wrong number.
    """
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        initializer = TextFileInitializer(
            vocabulary_file,
            dtypes.int64,
            key_column_index,
            dtypes.string,
            value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name="table_init",
        )
        return StaticHashTable(initializer, default_value)


@public("python.ops.lookup_ops.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None):
    """A table of a vector's strings by their numbers.

    Raises ValueError without a vector.
    """
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        strings = convert_to_tensor(vocabulary_list, dtypes.string)
        keys = ops.cast(ops.range(ops.size(strings)), dtypes.int64)
        initializer = KeyValueTensorInitializer(keys, strings, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTable(initializer, default_value)

"""tf.contrib.lookup: the table with a name of its own, and the old names of what makes tables."""

from __future__ import annotations

from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.resources.lookup import StaticHashTable, TextFileIndex, TextFileInitializer
from stillflow.resources.vocabulary_tables import (
    FastHashSpec,
    index_table_from_file,
    index_table_from_tensor,
    index_to_string_table_from_tensor,
)


@public("contrib.lookup.HashTable")
class HashTable(StaticHashTable):
    """A table that its initializer fills once; see tf.lookup.StaticHashTable.

    Args:
      initializer: a KeyValueTensorInitializer or TextFileInitializer, whose types are the table's.
      default_value: a scalar, for keys that are not there.
      shared_name: the name of the table, if sessions are to share it.
      name: the node's name, "hash_table" by default.
    """

    def __init__(self, initializer, default_value, shared_name=None, name=None):
        self._given_name = shared_name or ""
        super().__init__(initializer, default_value, name)

    def _name_for_sharing(self, initializer):
        return self._given_name

    @property
    def init(self):
        """The operation that fills the table."""
        return self.initializer


@public("contrib.lookup.TextFileStringTableInitializer", "python.ops.lookup_ops.TextFileStringTableInitializer")
class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table of strings, by default the lines of a file by their numbers; see TextFileInitializer."""

    def __init__(
        self, filename, key_column_index=TextFileIndex.LINE_NUMBER, value_column_index=TextFileIndex.WHOLE_LINE,
        vocab_size=None, delimiter="\t", name="text_file_string_table_init",
    ):  # fmt: skip
        super().__init__(
            filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size, delimiter, name
        )


@public("contrib.lookup.TextFileIdTableInitializer", "python.ops.lookup_ops.TextFileIdTableInitializer")
class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table of numbers, by default those of a file's lines; see TextFileInitializer."""

    def __init__(
        self, filename, key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
        vocab_size=None, delimiter="\t", name="text_file_id_table_init", key_dtype=dtypes.string,
    ):  # fmt: skip
        super().__init__(
            filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size, delimiter, name
        )


# ---- Old names ----------------------------------------------------------------------------------------------


@public("contrib.lookup.index_table_from_tensor")
def index_table_from_mapping(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, dtype=dtypes.string, name=None
):
    """A table of the numbers of the elements of `mapping`, a vector of strings or integers.

    Args:
      num_oov_buckets, default_value, hasher_spec, name: as for index_table_from_file.
      dtype: the type of keys.

    Raises ValueError without a vector, for wrong numbers, and elements of another type; TypeError for other types.
    """
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


@public("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_mapping(mapping, default_value="UNK", name=None):
    """A table of the strings of the vector `mapping` by their numbers. Raises ValueError without a vector."""
    return index_to_string_table_from_tensor(mapping, default_value, name)


@public("contrib.lookup.string_to_index_table_from_file")
def string_to_index_table_from_file(
    vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=FastHashSpec, name=None
):
    """The old name of index_table_from_file."""
    return index_table_from_file(
        vocabulary_file, num_oov_buckets, vocab_size, default_value, hasher_spec, key_dtype=dtypes.string, name=name
    )


@public("contrib.lookup.string_to_index_table_from_tensor")
def string_to_index_table_from_tensor(
    mapping, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec, name=None
):
    """An old name of index_table_from_tensor. Raises ValueError for what are no strings."""
    with name_scope(name, "string_to_index") as scope:
        mapping = convert_to_tensor(mapping)
    if mapping.dtype.base_dtype is not dtypes.string:
        raise ValueError("string_to_index_table_from_tensor requires string.")
    return index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, name=scope)


@public("contrib.lookup.string_to_index")
def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The numbers of strings: their places in `mapping`, or the default value where they are not in it."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


@public("contrib.lookup.index_to_string")
def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The strings at the places of `mapping`, or the default value where it has none."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)

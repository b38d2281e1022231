"""Columns of categories for tf.contrib.layers' inputs: hashed, numbered or looked up; weighted; one-hot."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import VarLenFeature
from stillflow.composites.sparse import sparse_merge, sparse_tensor_to_dense
from stillflow.contrib.layers.column_base import (
    CategoricalColumn,
    FeatureColumn,
    LookupArguments,
    Transformed,
    reshaped_numbers,
)
from stillflow.contrib.layers.embeddings import dense_to_sparse_tensor
from stillflow.contrib.layers.plain import inner_flatten
from stillflow.feature_columns.columns import OldDenseColumn
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse
from stillflow.resources.vocabulary_tables import index_table_from_file, index_table_from_tensor
from stillflow.training_loop.messages import log
from stillflow.variables.initializers import Zeros


@public("contrib.layers.python.layers.feature_column._SparseIdLookupConfig")
class _SparseIdLookupConfig(NamedTuple):
    vocabulary_file: str | None = None
    keys: tuple | None = None
    num_oov_buckets: int = 0
    vocab_size: int | None = None
    default_value: int = -1


class _SparseFields(NamedTuple):
    column_name: str
    is_integerized: bool = False
    bucket_size: int | None = None
    lookup_config: Any = None  # a _SparseIdLookupConfig, or None
    combiner: str = "sum"
    dtype: dtypes.DType = dtypes.string


class SparseColumn(CategoricalColumn, _SparseFields):
    """A feature of several categories, which become numbers."""

    is_crossable = True

    def __new__(cls, *args, **kwargs):
        column = _SparseFields.__new__(cls, *args, **kwargs)
        _check_sparse(column)
        return column

    @property
    def name(self):
        return self.column_name

    @property
    def length(self):
        if self.bucket_size is not None:
            return self.bucket_size
        return self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets

    @property
    def config(self):
        return {self.column_name: VarLenFeature(self.dtype)}

    def _wide_embedding_lookup_arguments(self, input_tensor):
        return LookupArguments(self.id_tensor(input_tensor), None, self.length, Zeros(), self.combiner)

    def crossed_input(self, inputs):
        return inputs.get(self.name)

    def _transform_feature(self, inputs):
        given = inputs.get(self.name)
        if not is_sparse(given):
            ignored = "" if given.dtype == dtypes.string else -1
            given = dense_to_sparse_tensor(reshaped_numbers(given, 2, self.name), ignore_value=ignored)
        return self._numbers(given)

    def _numbers(self, given):
        raise NotImplementedError

    def is_compatible(self, other):
        """Whether an embedding can be shared with another column."""
        if self.lookup_config and other.lookup_config:
            return self.lookup_config == other.lookup_config
        are_integers = self.dtype.is_integer and other.dtype.is_integer
        found = self.length == other.length and (self.dtype == other.dtype or are_integers)
        if found:
            log().warning("Column %s and %s may not have the same vocabulary.", self.name, other.name)
        return found


def _check_sparse(column):
    name, dtype, size = column.column_name, column.dtype, column.bucket_size
    if column.is_integerized and size is None:
        raise ValueError(f"bucket_size must be set if is_integerized is True. column_name: {name}")
    if column.is_integerized and not dtype.is_integer:
        raise ValueError(f"dtype must be an integer if is_integerized is True. dtype: {dtype}, column_name: {name}.")
    if dtype != dtypes.string and not dtype.is_integer:
        raise ValueError(f"dtype must be string or integer. dtype: {dtype}, column_name: {name}")
    if size is not None and size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {size}, column_name: {name}")


def _with_values(tensor, values):
    return SparseTensor(tensor.indices, values, tensor.dense_shape)


class _SparseColumnIntegerized(SparseColumn):
    def _numbers(self, given):
        return _with_values(given, ops.floor_mod(given.values, self.bucket_size, name="mod"))


class _SparseColumnHashed(SparseColumn):
    hash_keys: list | None = None

    def _numbers(self, given):
        texts = ops.as_string(given.values) if self.dtype.is_integer else given.values
        if not self.hash_keys:
            return _with_values(given, ops.string_to_hash_bucket_fast(texts, self.bucket_size, name="lookup"))
        found = [
            _with_values(given, ops.string_to_hash_bucket_strong(texts, self.bucket_size, key))
            for key in self.hash_keys
        ]
        return ops.sparse_concat(axis=1, sp_inputs=found, name="lookup")


class _SparseColumnKeys(SparseColumn):
    def _numbers(self, given):
        config = self.lookup_config
        table = index_table_from_tensor(
            config.keys, default_value=config.default_value, dtype=self.dtype, name="lookup"
        )
        return table.lookup(given)


class _SparseColumnVocabulary(SparseColumn):
    def _numbers(self, given):
        if self.dtype.is_integer:
            given = _with_values(given, ops.as_string(given.values))
        config = self.lookup_config
        table = index_table_from_file(
            vocabulary_file=config.vocabulary_file,
            num_oov_buckets=config.num_oov_buckets,
            vocab_size=config.vocab_size,
            default_value=config.default_value,
            name=f"{self.name}_lookup",
        )
        return table.lookup(given)


@public("contrib.layers.sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=dtypes.int64):
    """A column of numbers, taken modulo `bucket_size`. Raises ValueError for other types or sizes."""
    return _SparseColumnIntegerized(column_name, True, bucket_size, None, combiner, dtype)


@public("contrib.layers.sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name, hash_bucket_size, combiner="sum", dtype=dtypes.string, hash_keys=None
):
    """A column of strings or integers, whose hashes are their numbers.

    Args:
      column_name: the feature.
      hash_bucket_size: how many numbers there are.
      combiner: how several of a row are put together: "sum", "mean" or "sqrtn".
      dtype: of the feature.
      hash_keys: a list of pairs of integers, each for a hash; then each feature has several numbers.

    Raises:
      ValueError: for other types, sizes or keys.
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        if not all(isinstance(pair, list) and [type(key) for key in pair] == [int, int] for pair in hash_keys):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    column = _SparseColumnHashed(column_name, False, hash_bucket_size, None, combiner, dtype)
    column.hash_keys = hash_keys
    return column


@public("contrib.layers.sparse_column_with_keys")
def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=dtypes.string):
    """A column of categories, which are numbered as in `keys`; others are `default_value`."""
    keys = tuple(keys)
    config = _SparseIdLookupConfig(keys=keys, vocab_size=len(keys), default_value=default_value)
    return _SparseColumnKeys(column_name, False, None, config, combiner, dtype)


@public("contrib.layers.sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None, default_value=-1, combiner="sum",
    dtype=dtypes.string,
):  # fmt: skip
    """A column of categories, which are numbered as in a file: see tf.contrib.lookup.index_table_from_file.

    Raises:
      ValueError: for no `vocab_size`.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(vocabulary_file, None, num_oov_buckets, vocab_size, default_value)
    return _SparseColumnVocabulary(column_name, False, None, config, combiner, dtype)


# ---- Weights ------------------------------------------------------------------------------------------------


class _WeightedFields(NamedTuple):
    sparse_id_column: SparseColumn
    weight_column_name: str
    dtype: dtypes.DType


class _WeightedSparseColumn(CategoricalColumn, _WeightedFields):
    @property
    def name(self):
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def parents(self):
        return (self.sparse_id_column,)

    @property
    def length(self):
        return self.sparse_id_column.length

    @property
    def lookup_config(self):
        return self.sparse_id_column.lookup_config

    @property
    def config(self):
        return {**self.sparse_id_column.config, self.weight_column_name: VarLenFeature(self.dtype)}

    def id_tensor(self, input_tensor):
        return input_tensor[0]

    def weight_tensor(self, input_tensor):
        return input_tensor[1]

    def _wide_embedding_lookup_arguments(self, input_tensor):
        ids, weights = input_tensor
        return LookupArguments(ids, weights, self.length, Zeros(), self.sparse_id_column.combiner)

    def _transform_feature(self, inputs):
        ids, weights = inputs.get(self.sparse_id_column), inputs.get(self.weight_column_name)
        if not is_sparse(weights):
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = ops.cast(weights, dtypes.float32)
        return ids, weights

    def is_compatible(self, other):
        """Whether an embedding can be shared with another column."""
        other = other.sparse_id_column if isinstance(other, _WeightedSparseColumn) else other
        return self.sparse_id_column.is_compatible(other)


@public("contrib.layers.weighted_sparse_column")
def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=dtypes.float32):
    """A column of categories with weights that are another feature. Raises ValueError for what are no numbers."""
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)


# ---- Vectors ------------------------------------------------------------------------------------------------


class _OneHotFields(NamedTuple):
    sparse_id_column: SparseColumn


class _OneHotColumn(FeatureColumn, OldDenseColumn, _OneHotFields):
    suits_sequences = True

    @property
    def name(self):
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def parents(self):
        return (self.sparse_id_column,)

    @property
    def length(self):
        return self.sparse_id_column.length

    @property
    def config(self):
        return self.sparse_id_column.config

    def insert_transformed_feature(self, columns_to_tensors):
        columns_to_tensors[self] = Transformed(columns_to_tensors).get(self.sparse_id_column)

    def _transform_feature(self, inputs):
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))

    @property
    def _variable_shape(self):
        return TensorShape([self.length])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        ids = inner_flatten(self.sparse_id_column.id_tensor(input_tensor), output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is None:
            dense = sparse_tensor_to_dense(ids, default_value=-1)
            vectors = ops.one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
            return ops.reduce_sum(vectors, axis=[output_rank - 1])
        merged = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
        merged = ops.sparse_slice(merged, ops.zeros_like(merged.dense_shape), merged.dense_shape)
        dense = sparse_tensor_to_dense(merged)
        return ops.reshape(dense, ops.concat([ops.shape(dense)[:-1], [self.length]], axis=0))


@public("contrib.layers.one_hot_column")
def one_hot_column(sparse_id_column):
    """A column of vectors that are 1 where a category is there, or its weight, and 0 elsewhere."""
    return _OneHotColumn(sparse_id_column)

"""tf.feature_column.categorical_column_with_*: categories by hash, vocabulary or number, and with weights."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from stillflow import ops
from stillflow.composites.checks import assert_greater_equal, assert_less
from stillflow.composites.parsing import VarLenFeature
from stillflow.feature_columns.checks import check_key, check_string_or_int
from stillflow.feature_columns.columns import CategoricalColumn, of_columns
from stillflow.feature_columns.transformation import to_sparse_input
from stillflow.files import gfile
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from stillflow.resources.vocabulary_tables import index_table_from_file, index_table_from_tensor
from stillflow.training_loop.messages import log


class _RawCategories(CategoricalColumn):
    """Categories of one raw feature, `key`."""

    key: Any
    dtype: Any

    @property
    def _is_v2_column(self):
        return True

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache, state_manager):
        found = to_sparse_input(transformation_cache.get(self.key, state_manager))
        return self._numbers(found, state_manager)

    def _numbers(self, sparse, state_manager):
        """The numbers of the categories in a SparseTensor, another one."""
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return self.IdWeightPair(transformation_cache.get(self, state_manager), None)

    @property
    def parents(self):
        return [self.key]

    def _check_kind(self, sparse):
        if self.dtype.is_integer != sparse.dtype.is_integer:
            raise ValueError(
                f"Column dtype and SparseTensors dtype must be compatible. key: {self.key}, column dtype: "
                f"{self.dtype}, tensor dtype: {sparse.dtype}"
            )

    def _check_type(self, sparse):
        check_string_or_int(sparse.dtype, prefix=f"column_name: {self.key} input_tensor")


# ---- By hash ------------------------------------------------------------------------------------------------------


class _Hashed(NamedTuple):
    key: Any
    hash_bucket_size: Any
    dtype: Any


@public(
    "python.feature_column.feature_column._HashedCategoricalColumn",
    "python.feature_column.feature_column_v2.HashedCategoricalColumn",
)
class HashedCategoricalColumn(_RawCategories, _Hashed):
    """Categories numbered by their hashes."""

    def _numbers(self, sparse, state_manager):
        if not isinstance(sparse, SparseTensor):
            raise ValueError("SparseColumn input must be a SparseTensor.")
        self._check_type(sparse)
        self._check_kind(sparse)
        texts = sparse.values if self.dtype == dtypes.string else ops.as_string(sparse.values)
        numbers = ops.string_to_hash_bucket_fast(texts, self.hash_bucket_size, name="lookup")
        return SparseTensor(sparse.indices, numbers, sparse.dense_shape)

    @property
    def num_buckets(self):
        return self.hash_bucket_size


@public(
    "feature_column.categorical_column_with_hash_bucket",
    "python.feature_column.feature_column._categorical_column_with_hash_bucket",
)
def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """A column of categories that are numbered by their hashes.

    Args:
      key: the name of the feature.
      hash_bucket_size: how many numbers there are.
      dtype: the type of the feature, strings or integers.

    Raises ValueError for other things.
    """
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    check_key(key)
    check_string_or_int(dtype, prefix=f"column_name: {key}")
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


# ---- By vocabulary ------------------------------------------------------------------------------------------------


class _Vocabulary(_RawCategories):
    """Categories numbered by a table."""

    def _numbers(self, sparse, state_manager):
        self._check_kind(sparse)
        self._check_type(sparse)
        key_dtype = self.dtype
        if sparse.dtype.is_integer:
            key_dtype, sparse = dtypes.int64, ops.cast(sparse, dtypes.int64)
        name = f"{self.key}_lookup"
        table = self._table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(sparse)

    def _table(self, key_dtype, name):
        raise NotImplementedError


class _VocabularyFile(NamedTuple):
    key: Any
    vocabulary_file: Any
    vocabulary_size: Any
    num_oov_buckets: Any
    dtype: Any
    default_value: Any


@public(
    "python.feature_column.feature_column._VocabularyFileCategoricalColumn",
    "python.feature_column.feature_column_v2.VocabularyFileCategoricalColumn",
)
class VocabularyFileCategoricalColumn(_Vocabulary, _VocabularyFile):
    """Categories numbered as the lines of a file."""

    def _table(self, key_dtype, name):
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self):
        return self.vocabulary_size + self.num_oov_buckets


def _check_oov(key, num_oov_buckets, has_default):
    if num_oov_buckets:
        if has_default:
            raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
        if num_oov_buckets < 0:
            raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


@public(
    "feature_column.categorical_column_with_vocabulary_file",
    "python.feature_column.feature_column._categorical_column_with_vocabulary_file",
)
def categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=dtypes.string
):
    """A column of categories that are numbered as the lines of a file.

    Args:
      key: the name of the feature.
      vocabulary_file: the file's path.
      vocabulary_size: how many lines count; by default all.
      num_oov_buckets: how many numbers there are for what is not in the file.
      default_value: the number of what is not in it, instead; -1 by default, which counts for nothing.
      dtype: the type of the feature, strings or integers.

    Raises ValueError for other things, and if there is no such file.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with gfile.GFile(vocabulary_file) as file:
            vocabulary_size = sum(1 for _ in file)
        log().info(
            "vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
            vocabulary_size,
            key,
            vocabulary_file,
        )
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    _check_oov(key, num_oov_buckets, default_value is not None)
    check_string_or_int(dtype, prefix=f"column_name: {key}")
    check_key(key)
    return VocabularyFileCategoricalColumn(
        key=key,
        vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size,
        num_oov_buckets=0 if num_oov_buckets is None else num_oov_buckets,
        default_value=-1 if default_value is None else default_value,
        dtype=dtype,
    )


class _VocabularyList(NamedTuple):
    key: Any
    vocabulary_list: Any
    dtype: Any
    default_value: Any
    num_oov_buckets: Any


@public(
    "python.feature_column.feature_column._VocabularyListCategoricalColumn",
    "python.feature_column.feature_column_v2.VocabularyListCategoricalColumn",
)
class VocabularyListCategoricalColumn(_Vocabulary, _VocabularyList):
    """Categories numbered as in a list."""

    def _table(self, key_dtype, name):
        return index_table_from_tensor(
            tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=name,
        )

    @property
    def num_buckets(self):
        return len(self.vocabulary_list) + self.num_oov_buckets


@public(
    "feature_column.categorical_column_with_vocabulary_list",
    "python.feature_column.feature_column._categorical_column_with_vocabulary_list",
)
def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """A column of categories that are numbered as in a list.

    Args:
      key: the name of the feature.
      vocabulary_list: the categories, strings or integers.
      dtype: the type of the feature; that of the list by default.
      default_value: the number of what is not in the list; -1 counts for nothing.
      num_oov_buckets: how many numbers there are for what is not in it, instead.

    Raises ValueError for other things.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    found = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_oov(key, num_oov_buckets, default_value != -1)
    check_string_or_int(found, prefix=f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = found
    elif dtype.is_integer != found.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {found} do not match, column_name: {key}")
    check_string_or_int(dtype, prefix=f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets)


# ---- By number ----------------------------------------------------------------------------------------------------


class _Identity(NamedTuple):
    key: Any
    number_buckets: Any
    default_value: Any


@public(
    "python.feature_column.feature_column._IdentityCategoricalColumn",
    "python.feature_column.feature_column_v2.IdentityCategoricalColumn",
)
class IdentityCategoricalColumn(_RawCategories, _Identity):
    """Categories that are numbers already."""

    dtype = dtypes.int64

    def _numbers(self, sparse, state_manager):
        if not sparse.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {sparse.dtype}")
        values = ops.cast(sparse.values, dtypes.int64, name="values")
        count = ops.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = ops.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            values = self._checked(values, count, zero)
        else:
            is_outside = ops.logical_or(values < zero, values >= count, name="out_of_range")
            default = ops.fill(
                dims=ops.shape(values), value=ops.cast(self.default_value, dtypes.int64), name="default_values"
            )
            values = ops.where_v2(is_outside, default, values)
        return SparseTensor(sparse.indices, values, sparse.dense_shape)

    def _checked(self, values, count, zero):
        is_less = assert_less(
            values,
            count,
            data=(values, count),
            message=f'Bucket index for categorical column "{self.name}" exceeds number of buckets',
            name="assert_less_than_num_buckets",
        )
        is_positive = assert_greater_equal(
            values,
            zero,
            data=(values,),
            message=f'Negative bucket index for categorical column "{self.name}"',
            name="assert_greater_or_equal_0",
        )
        with get_default_graph().control_dependencies((is_less, is_positive)):
            return ops.identity(values)

    @property
    def num_buckets(self):
        return self.number_buckets


@public(
    "feature_column.categorical_column_with_identity",
    "python.feature_column.feature_column._categorical_column_with_identity",
)
def categorical_column_with_identity(key, num_buckets, default_value=None):
    """A column of categories that are numbers already.

    Args:
      key: the name of the feature.
      num_buckets: the numbers are below this.
      default_value: what others become; by default they are an error when a model runs.

    Raises ValueError for other things.
    """
    if num_buckets < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and (default_value < 0 or default_value >= num_buckets):
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, num_buckets, default_value)


# ---- With weights -------------------------------------------------------------------------------------------------


class _Weighted(NamedTuple):
    categorical_column: Any
    weight_feature_key: Any
    dtype: Any


@public(
    "python.feature_column.feature_column._WeightedCategoricalColumn",
    "python.feature_column.feature_column_v2.WeightedCategoricalColumn",
)
class WeightedCategoricalColumn(CategoricalColumn, _Weighted):
    """Categories of another column, and a weight for each."""

    @property
    def _is_v2_column(self):
        return of_columns(self.categorical_column)

    @property
    def name(self):
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self):
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        spec[self.weight_feature_key] = VarLenFeature(self.dtype)
        return spec

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    def transform_feature(self, transformation_cache, state_manager):
        weights = self._weights(transformation_cache.get(self.weight_feature_key, state_manager))
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def _weights(self, weights):
        if weights is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights = convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(f"Bad dtype, expected {self.dtype}, but got {weights.dtype}.")
        if not isinstance(weights, SparseTensor):
            # Weights that are zero stand for nothing, as the categories do that they belong to.
            weights = to_sparse_input(weights, ignore_value=0.0)
        return weights if weights.dtype.is_floating else ops.cast(weights, dtypes.float32)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return self.IdWeightPair(*transformation_cache.get(self, state_manager))

    @property
    def parents(self):
        return [self.categorical_column, self.weight_feature_key]


@public(
    "feature_column.weighted_categorical_column", "python.feature_column.feature_column._weighted_categorical_column"
)
def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """A column of another one's categories, with weights.

    Args:
      categorical_column: the other column.
      weight_feature_key: the name of the feature with a weight for each category.
      dtype: the type of the weights.

    Raises ValueError for a type that is not of numbers.
    """
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)

"""tf.feature_column.numeric_column and bucketized_column: numbers, and between which boundaries they lie."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.parsing import FixedLenFeature
from stillflow.feature_columns.checks import (
    check_key,
    check_normalizer,
    check_numeric,
    checked_default,
    checked_shape,
)
from stillflow.feature_columns.columns import CategoricalColumn, DenseColumn, of_columns
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor


class _Numeric(NamedTuple):
    key: Any
    shape: Any
    default_value: Any
    dtype: Any
    normalizer_fn: Any


@public(
    "python.feature_column.feature_column._NumericColumn", "python.feature_column.feature_column_v2.NumericColumn"
)
class NumericColumn(DenseColumn, _Numeric):
    """Numbers as they are, as float32."""

    @property
    def _is_v2_column(self):
        return True

    @property
    def name(self):
        return self.key

    @property
    def parse_example_spec(self):
        return {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)}

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, SparseTensor):
            raise ValueError(
                "The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not supported. key: "
                f"{self.key}"
            )
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return ops.cast(tensor, dtypes.float32)

    @property
    def variable_shape(self):
        return TensorShape(self.shape)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)

    @property
    def parents(self):
        return [self.key]


@public("feature_column.numeric_column", "python.feature_column.feature_column._numeric_column")
def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """A column of numbers.

    Args:
      key: the name of the feature.
      shape: how many there are for each example: a number or a tuple.
      default_value: what an Example without the feature has: a number, or an array of them.
      dtype: their type in Examples.
      normalizer_fn: a function of the tensor that returns another one.

    Raises TypeError or ValueError for other things.
    """
    shape = checked_shape(shape, key)
    check_numeric(dtype, key)
    default_value = checked_default(shape, default_value, dtype, key)
    check_normalizer(normalizer_fn)
    check_key(key)
    return NumericColumn(key, shape, default_value, dtype, normalizer_fn)


class _Bucketized(NamedTuple):
    source_column: Any
    boundaries: Any


@public(
    "python.feature_column.feature_column._BucketizedColumn",
    "python.feature_column.feature_column_v2.BucketizedColumn",
)
class BucketizedColumn(DenseColumn, CategoricalColumn, _Bucketized):
    """Which bucket each number lies in, as one-hot vectors or as categories."""

    @property
    def _is_v2_column(self):
        return of_columns(self.source_column)

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def parse_example_spec(self):
        return self.source_column.parse_example_spec

    def transform_feature(self, transformation_cache, state_manager):
        source = transformation_cache.get(self.source_column, state_manager)
        return ops.bucketize(source, boundaries=self.boundaries)

    @property
    def _bucket_count(self):
        return len(self.boundaries) + 1

    @property
    def variable_shape(self):
        return TensorShape((*self.source_column.shape, self._bucket_count))

    def get_dense_tensor(self, transformation_cache, state_manager):
        buckets = transformation_cache.get(self, state_manager)
        return ops.one_hot(
            indices=ops.cast(buckets, dtypes.int64), depth=self._bucket_count, on_value=1.0, off_value=0.0
        )

    @property
    def num_buckets(self):
        # Each place of the source has buckets of its own.
        return self._bucket_count * self.source_column.shape[0]

    def get_sparse_tensors(self, transformation_cache, state_manager):
        buckets = transformation_cache.get(self, state_manager)
        batch_size = ops.shape(buckets)[0]
        width = self.source_column.shape[0]
        rows = ops.reshape(ops.tile(ops.expand_dims(ops.range(0, batch_size), 1), [1, width]), (-1,))
        columns = ops.tile(ops.range(0, width), [batch_size])
        numbers = ops.reshape(buckets, (-1,)) + self._bucket_count * columns
        indices = ops.cast(ops.transpose(ops.stack((rows, columns))), dtypes.int64)
        dense_shape = ops.cast(ops.stack([batch_size, width]), dtypes.int64)
        return self.IdWeightPair(SparseTensor(indices, numbers, dense_shape), None)

    @property
    def parents(self):
        return [self.source_column]


@public("feature_column.bucketized_column", "python.feature_column.feature_column._bucketized_column")
def bucketized_column(source_column, boundaries):
    """A column that says which bucket each number of another column lies in.

    Args:
      source_column: a numeric column of one dimension.
      boundaries: numbers in ascending order; one that is a boundary lies in the bucket above it.

    Raises ValueError for other things.
    """
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)):
        raise ValueError("boundaries must be a sorted list.")
    if any(low >= high for low, high in itertools.pairwise(boundaries)):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))

"""Columns of numbers for tf.contrib.layers' inputs, and numbers in buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stillflow import ops
from stillflow.composites.parsing import FixedLenFeature
from stillflow.contrib.layers.column_base import FeatureColumn, LookupArguments, reshaped
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse
from stillflow.variables.initializers import Zeros


class _RealValuedFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple | None
    dtype: dtypes.DType
    normalizer: Callable | None


class _RealValuedColumn(FeatureColumn, _RealValuedFields):
    left_out_of_key = ("normalizer",)

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    def insert_transformed_feature(self, columns_to_tensors):
        given = columns_to_tensors[self.name]
        given = given if self.normalizer is None else self.normalizer(given)
        columns_to_tensors[self] = ops.cast(given, dtypes.float32)

    def dense_input(self, input_tensor, output_rank):
        return reshaped(input_tensor, output_rank, self.name)

    def dense_tensor(self, input_tensor):
        """What a linear model multiplies."""
        return input_tensor


@public("contrib.layers.real_valued_column")
def real_valued_column(column_name, dimension=1, default_value=None, dtype=dtypes.float32, normalizer=None):
    """A column of numbers.

    Args:
      column_name: the feature; "" where features are one tensor.
      dimension: how many numbers each row has.
      default_value: what stands for them where they are missing: a number, or a list.
      dtype: of the feature.
      normalizer: a function of the feature's tensor.

    Raises:
      TypeError: for a dimension that is no integer, and defaults that do not fit the type.
      ValueError: for a dimension that is not positive, other types, and defaults of another length.
    """
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    default = _checked_default(default_value, dimension, dtype, column_name)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


def _checked_default(default_value, dimension, dtype, column_name):
    if default_value is None:
        return None
    values = default_value if isinstance(default_value, list) else [default_value] * dimension
    if len(values) != dimension:
        raise ValueError(
            f"The length of default_value must be equal to dimension. default_value: {default_value}, dimension: "
            f"{dimension}, column_name: {column_name}"
        )
    if dtype.is_integer and all(isinstance(value, int) for value in values):
        return tuple(values)
    if dtype.is_floating and all(isinstance(value, (int, float)) for value in values):
        return tuple(float(value) for value in values)
    raise TypeError(
        f"default_value must be compatible with dtype. default_value: {default_value}, dtype: {dtype}, column_name: "
        f"{column_name}"
    )


class _BucketizedFields(NamedTuple):
    source_column: _RealValuedColumn
    boundaries: tuple


class _BucketizedColumn(FeatureColumn, _BucketizedFields):
    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def length(self):
        return len(self.boundaries) + 1

    @property
    def config(self):
        return self.source_column.config

    def insert_transformed_feature(self, columns_to_tensors):
        source = self.parent_tensor(self.source_column, columns_to_tensors)
        columns_to_tensors[self] = ops.bucketize(source, boundaries=list(self.boundaries), name="bucketize")

    def dense_input(self, input_tensor, output_rank):
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        vectors = ops.one_hot(ops.cast(input_tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return ops.reshape(vectors, [-1, self.length * self.source_column.dimension], name="reshape")

    def linear_arguments(self, input_tensor):
        size = self.length * self.source_column.dimension
        return LookupArguments(self._numbers(input_tensor), None, size, Zeros(), "sum")

    def _numbers(self, buckets):
        """The buckets of all numbers of a row, each number's after those of the one before."""
        dimension = self.source_column.dimension
        batch_size = ops.shape(buckets, name="shape")[0]
        if dimension > 1:
            rows = ops.expand_dims(ops.range(0, batch_size), 1, name="expand_dims")
            rows = ops.reshape(ops.tile(rows, [1, dimension], name="tile"), [-1], name="reshape")
            columns = ops.tile(ops.range(0, dimension), [batch_size], name="tile")
            numbers = ops.reshape(buckets, [-1], name="reshape") + self.length * columns
        else:
            rows = ops.range(0, batch_size)
            columns = ops.zeros([batch_size], dtype=dtypes.int32, name="zeros")
            numbers = ops.reshape(buckets, [-1], name="reshape")
        indices = ops.cast(ops.transpose(ops.stack((rows, columns))), dtypes.int64)
        shape = ops.cast(ops.stack([batch_size, dimension]), dtypes.int64)
        return SparseTensor(indices, numbers, shape)


@public("contrib.layers.bucketized_column")
def bucketized_column(source_column, boundaries):
    """A column of numbers that are put into buckets.

    Args:
      source_column: a real_valued_column.
      boundaries: where buckets begin, in order; the first one has all that is less.

    Raises:
      TypeError: for another column.
      ValueError: for no boundaries, and such that are not in order.
    """
    if not isinstance(source_column, _RealValuedColumn):
        raise TypeError(f"source_column must be an instance of _RealValuedColumn. source_column: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError(f"boundaries must be a non-empty list or tuple. boundaries: {boundaries}")
    if list(boundaries) != sorted(boundaries):
        raise ValueError(f"boundaries must be a sorted list. boundaries: {boundaries}")
    return _BucketizedColumn(source_column, tuple(dict.fromkeys(boundaries)))


# ---- Columns of given features ------------------------------------------------------------------------------


@public("contrib.layers.infer_real_valued_columns")
def infer_real_valued_columns(features):
    """A list of columns of numbers for all features, a tensor or {name: tensor}.

    Raises:
      ValueError: for SparseTensors, and what are no numbers.
    """
    if not isinstance(features, dict):
        return [_column_of("", features)]
    return [_column_of(name, tensor) for name, tensor in features.items()]


def _column_of(name, tensor):
    if is_sparse(tensor):
        raise ValueError(
            "SparseTensor is not supported for auto detection. Please define corresponding FeatureColumn for tensor "
            "{} {}.", name, tensor,
        )  # fmt: skip
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(
            "Non integer or non floating types are not supported for auto detection. Please define corresponding "
            "FeatureColumn for tensor {} {}.", name, tensor,
        )  # fmt: skip
    dimension = 1
    for size in tensor.get_shape().as_list()[1:]:
        dimension *= size
    return real_valued_column(name, dimension=dimension, dtype=tensor.dtype)

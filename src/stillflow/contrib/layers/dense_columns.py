"""Columns of numbers for tf.contrib.layers' inputs, and numbers in buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from stillflow import ops
from stillflow.composites.parsing import FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from stillflow.contrib.layers.column_base import CategoricalColumn, FeatureColumn, LookupArguments, reshaped_numbers
from stillflow.feature_columns.columns import OldDenseColumn
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse
from stillflow.variables.initializers import Zeros


class _RealValuedFields(NamedTuple):
    column_name: str
    dimension: int
    default_value: tuple | None
    dtype: dtypes.DType
    normalizer: Callable | None


class _RealValuedColumn(FeatureColumn, OldDenseColumn, _RealValuedFields):
    left_out_of_key = ("normalizer",)
    suits_sequences = True

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        default = None if self.default_value is None else list(self.default_value)
        return {self.column_name: FixedLenFeature([self.dimension], self.dtype, default)}

    def _transform_feature(self, inputs):
        given = inputs.get(self.name)
        given = given if self.normalizer is None else self.normalizer(given)
        return ops.cast(given, dtypes.float32)

    @property
    def _variable_shape(self):
        return TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return inputs.get(self)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return reshaped_numbers(ops.cast(input_tensor, dtypes.float32), output_rank, self.name)

    def dense_tensor(self, input_tensor):
        """What a linear model multiplies."""
        return input_tensor

    @property
    def normalizer_fn(self):
        return self.normalizer


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
    if dimension is None:
        raise TypeError(
            "dimension must be an integer. Use the _real_valued_var_len_column for variable length features."
            f"dimension: {dimension}, column_name: {column_name}"
        )
    if not isinstance(dimension, int):
        raise TypeError(f"dimension must be an integer. dimension: {dimension}, column_name: {column_name}")
    if dimension < 1:
        raise ValueError(f"dimension must be greater than 0. dimension: {dimension}, column_name: {column_name}")
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    default = _checked_default(default_value, dimension, dtype, column_name)
    return _RealValuedColumn(column_name, dimension, default, dtype, normalizer)


class _VarLenFields(NamedTuple):
    column_name: str
    default_value: object
    dtype: dtypes.DType
    normalizer: Callable | None
    is_sparse: bool


class _RealValuedVarLenColumn(FeatureColumn, _VarLenFields):
    left_out_of_key = ("normalizer",)
    suits_sequences = True

    @property
    def name(self):
        return self.column_name

    @property
    def config(self):
        if self.is_sparse:
            return {self.column_name: VarLenFeature(self.dtype)}
        feature = FixedLenSequenceFeature([], self.dtype, allow_missing=True, default_value=self.default_value)
        return {self.column_name: feature}

    @property
    def normalizer_fn(self):
        return self.normalizer

    def _transform_feature(self, inputs):
        given = inputs.get(self.name)
        if self.normalizer is not None and self.is_sparse:
            given = SparseTensor(given.indices, self.normalizer(given.values), given.dense_shape)
        elif self.normalizer is not None:
            given = self.normalizer(given)
        return ops.cast(given, dtypes.float32)

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        return reshaped_numbers(self.dense_tensor(input_tensor), output_rank, self.name)

    def dense_tensor(self, input_tensor):
        """What a linear model multiplies. Raises ValueError for a SparseTensor."""
        if self.is_sparse:
            raise ValueError(f"Set is_sparse to False if you want a dense Tensor for column_name: {self.name}")
        return input_tensor


@public("contrib.layers.python.layers.feature_column._real_valued_var_len_column")
def real_valued_var_len_column(
    column_name, default_value=None, dtype=dtypes.float32, normalizer=None, is_sparse=False
):
    """A column of numbers, any number of them in a row.

    Args:
      column_name: the feature.
      default_value: what fills rows up, unless it is sparse.
      dtype: of the feature.
      normalizer: a function of the feature's tensor, or of a SparseTensor's values.
      is_sparse: whether the tensor is a SparseTensor instead.

    Raises:
      TypeError: for other types.
      ValueError: for a default that is a list, or missing.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise TypeError(f"dtype must be convertible to float. dtype: {dtype}, column_name: {column_name}")
    if default_value is None and not is_sparse:
        raise ValueError(
            "default_value must be provided when is_sparse=False to parse a padded Tensor. column_name: "
            f"{column_name}"
        )
    if isinstance(default_value, list):
        raise ValueError(f"Only scalar default value. default_value: {default_value}, column_name: {column_name}")
    if default_value is not None:
        default_value = int(default_value) if dtype.is_integer else float(default_value)
    return _RealValuedVarLenColumn(column_name, default_value, dtype, normalizer, is_sparse)


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


class _BucketizedColumn(CategoricalColumn, OldDenseColumn, _BucketizedFields):
    is_crossable = True
    suits_sequences = False

    @property
    def name(self):
        return f"{self.source_column.name}_bucketized"

    @property
    def parents(self):
        return (self.source_column,)

    @property
    def length(self):
        return len(self.boundaries) + 1

    @property
    def config(self):
        return self.source_column.config

    def _transform_feature(self, inputs):
        return ops.bucketize(inputs.get(self.source_column), boundaries=list(self.boundaries), name="bucketize")

    def id_tensor(self, input_tensor):
        return self.to_sparse_tensor(input_tensor)

    def crossed_input(self, inputs):
        return self.to_sparse_tensor(inputs.get(self))

    @property
    def _num_buckets(self):
        return self.length * self.source_column.dimension

    @property
    def _variable_shape(self):
        return TensorShape([self.length * self.source_column.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self._to_dnn_input_layer(inputs.get(self))

    def _to_dnn_input_layer(self, input_tensor, weight_collections=None, trainable=True, output_rank=2):
        if output_rank != 2:
            raise ValueError("BucketizedColumn currently only supports output_rank=2")
        vectors = ops.one_hot(ops.cast(input_tensor, dtypes.int64), self.length, 1.0, 0.0, name="one_hot")
        return ops.reshape(vectors, [-1, self.length * self.source_column.dimension], name="reshape")

    def _wide_embedding_lookup_arguments(self, input_tensor):
        size = self.length * self.source_column.dimension
        return LookupArguments(self.to_sparse_tensor(input_tensor), None, size, Zeros(), "sum")

    def to_sparse_tensor(self, buckets):
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

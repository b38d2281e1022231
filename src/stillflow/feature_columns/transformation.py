"""FeatureTransformationCache: raw features, and what columns make of them, each made once."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.composites.checks import assert_positive
from stillflow.feature_columns.columns import FeatureColumn, OldFeatureColumn, checked_columns, spelled
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor
from stillflow.training_loop.messages import log


@public("python.feature_column.feature_column_v2.FeatureTransformationCache")
class FeatureTransformationCache:
    """Tensors by the names of raw features and by columns.

    Args:
      features: {name: tensor or SparseTensor}.
    """

    _KIND: Any = FeatureColumn

    def __init__(self, features):
        self._features = dict(features)
        self._feature_tensors: dict = {}

    def get(self, key, state_manager):
        """The tensor of a raw feature, with a dimension more if it is a vector; or what a column makes.

        Args:
          key: the name of a feature, or a column.
          state_manager: a StateManager for the column, or None.

        Raises:
          ValueError: if there is no such feature, it is a scalar, or a column makes nothing.
          TypeError: for other keys.
        """
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            found = _with_columns(key, self._features[key])
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif not isinstance(key, self._KIND):
            raise TypeError(f'"key" must be either a "str" or "{spelled(self._KIND)}". Provided: {key}')
        else:
            log().debug("Transforming feature_column %s.", key)
            found = self._transform(key, state_manager)
            if found is None:
                raise ValueError(f"Column {key.name} is not supported.")
        self._feature_tensors[key] = found
        return found

    def _transform(self, column, state_manager):
        return column.transform_feature(self, state_manager)

    def sparse_tensors(self, column, state_manager):
        """The IdWeightPair of a categorical column."""
        return column.get_sparse_tensors(self, state_manager)


@public("python.feature_column.feature_column._LazyBuilder")
class LazyBuilder(FeatureTransformationCache):
    """The same for columns as the older functions call them."""

    _KIND = OldFeatureColumn

    def get(self, key, state_manager=None):
        return super().get(key, state_manager)

    def _transform(self, column, state_manager):
        return column._transform_feature(self)

    def sparse_tensors(self, column, state_manager):
        return column._get_sparse_tensors(self)


def _with_columns(key, raw_feature):
    """A feature of at least two dimensions. Raises ValueError for a scalar."""
    tensor = convert_to_tensor_or_sparse_tensor(raw_feature)
    rank = tensor.get_shape().rank
    message = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
    if rank == 0:
        raise ValueError(message)
    if rank is not None:
        return tensor if rank != 1 else _expanded(tensor)
    with get_default_graph().control_dependencies([assert_positive(ops.rank(tensor), message=message)]):
        return cond(ops.equal(1, ops.rank(tensor)), lambda: _expanded(tensor), lambda: tensor)


def _expanded(tensor):
    if isinstance(tensor, SparseTensor):
        return ops.sparse_reshape(tensor, [ops.shape(tensor)[0], 1])
    return ops.expand_dims(tensor, -1)


@public("python.feature_column.feature_column_v2._to_sparse_input_and_drop_ignore_values")
def to_sparse_input(input_tensor, ignore_value=None):
    """A tensor as a SparseTensor, without what stands for nothing: "", -1, or 0. for floats.

    Args:
      input_tensor: a tensor; a SparseTensor is returned as it is.
      ignore_value: what stands for nothing instead.
    """
    input_tensor = convert_to_tensor_or_sparse_tensor(input_tensor)
    if isinstance(input_tensor, SparseTensor):
        return input_tensor
    with name_scope(None, "to_sparse_input", [input_tensor, ignore_value]):
        if ignore_value is None:
            if input_tensor.dtype == dtypes.string:
                ignore_value = ""
            elif input_tensor.dtype.is_integer:
                ignore_value = -1
            else:
                ignore_value = input_tensor.dtype.as_numpy_dtype()
        ignore_value = ops.cast(ignore_value, input_tensor.dtype, name="ignore_value")
        indices = ops.where_v2(ops.not_equal(input_tensor, ignore_value), name="indices")
        return SparseTensor(
            indices,
            ops.gather_nd(input_tensor, indices, name="values"),
            ops.shape(input_tensor, out_type=dtypes.int64, name="dense_shape"),
        )


@public("python.feature_column.feature_column._transform_features")
def transform_features(features, feature_columns):
    """{column: what it makes of the features}."""
    found = {}
    with name_scope(None, "transform_features", list(features.values())):
        builder = LazyBuilder(features)
        for column in sorted(checked_columns(feature_columns), key=lambda column: column.name):
            with name_scope(None, column.name):
                found[column] = builder.get(column)
    return found


@public("python.feature_column.feature_column_v2._transform_features_v2")
def transform_features_v2(features, feature_columns, state_manager):
    """{column: what it makes of the features}, with a StateManager."""
    found = {}
    with name_scope(None, "transform_features", list(features.values())):
        cache = FeatureTransformationCache(features)
        for column in sorted(checked_columns(feature_columns, FeatureColumn), key=lambda column: column.name):
            with name_scope(None, column.name):
                found[column] = cache.get(column, state_manager)
    return found

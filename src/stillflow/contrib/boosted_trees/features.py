"""Features as the lists that trees ask: dense numbers, sparse numbers, categories."""

from __future__ import annotations

from typing import NamedTuple

from stillflow import ops
from stillflow.contrib.layers.column_inputs import transform_features as transform_contrib_features
from stillflow.contrib.layers.embedding_columns import _EmbeddingColumn
from stillflow.feature_columns.columns import FeatureColumn
from stillflow.feature_columns.input_layer import input_layer
from stillflow.feature_columns.layers import LayerVariables
from stillflow.feature_columns.transformation import transform_features, transform_features_v2
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor, is_sparse
from stillflow.variables.scope import variable_scope


class ExtractedFeatures(NamedTuple):
    """Names of all features, and their tensors by kind."""

    names: list
    dense_floats: list
    sparse_float_indices: list
    sparse_float_values: list
    sparse_float_shapes: list
    sparse_int_indices: list
    sparse_int_values: list
    sparse_int_shapes: list

    @property
    def tensors(self):
        """What ops that predict take."""
        return self[1:]

    @property
    def inputs(self):
        """A tensor of each feature."""
        return self.dense_floats + self.sparse_float_indices + self.sparse_int_indices

    @property
    def count(self):
        """How many features there are."""
        return len(self.dense_floats) + len(self.sparse_float_shapes) + len(self.sparse_int_shapes)

    def sparse_floats(self):
        """The sparse numbers as SparseTensors."""
        parts = self.sparse_float_indices, self.sparse_float_values, self.sparse_float_shapes
        return [SparseTensor(*each) for each in zip(*parts, strict=True)]

    def sparse_ints(self):
        """The categories as SparseTensors."""
        parts = self.sparse_int_indices, self.sparse_int_values, self.sparse_int_shapes
        return [SparseTensor(*each) for each in zip(*parts, strict=True)]


def _transformed(features, column, use_core_columns, state_manager):
    """What one column makes of the features. Raises ValueError for several tensors."""
    if use_core_columns:
        if isinstance(column, FeatureColumn):
            return transform_features_v2(features, [column], state_manager)[column]
        return transform_features(features, [column])[column]
    if isinstance(column, _EmbeddingColumn):
        return input_layer(features, [column], weight_collections=["gbdt"])
    found = transform_contrib_features(features, [column])
    if len(found) > 1:
        raise ValueError("Unexpected number of output features")
    return next(iter(found.values()))


def _as_sparse_floats(categories, weights):
    """Categories with weights as sparse numbers, each category a dimension."""
    rows = ops.slice(categories.indices, [0, 0], [-1, 1])
    numbers = ops.expand_dims(ops.cast(categories.values, dtypes.int64), -1)
    return SparseTensor(ops.concat([rows, numbers], 1), weights.values, categories.dense_shape)


def _dense_columns(key, tensor):
    """[(name, float32 [n, 1])] of a dense feature, one for each of its columns. Raises ValueError for other types."""
    if tensor.dtype != dtypes.float32:
        raise ValueError(f"Unsupported dense feature {tensor.name} with dtype {tensor.dtype}.")
    if len(tensor.shape) > 1 and tensor.shape[1] > 1:
        columns = ops.unstack(tensor, axis=1)
        return [(f"{key}_{i}", ops.reshape(column, [-1, 1])) for i, column in enumerate(columns)]
    return [(key, tensor)]


@public("contrib.boosted_trees.python.training.functions.gbdt_batch.extract_features")
def extract_features(features, feature_columns, use_core_columns):
    """Tensors of features by kind.

    Args:
      features: {name: tensor or SparseTensor}.
      feature_columns: what the features go through, or None.
      use_core_columns: whether these are columns of tf.feature_column, not of tf.contrib.layers.

    Returns:
      (names of features, dense float32 [n, 1], indices, values and shapes of sparse float32, the same of sparse
      int64), lists.

    Raises ValueError without features, and for types that trees cannot ask.
    """
    if not features:
        raise ValueError("Features dictionary must be specified.")
    features = dict(features)
    state_manager = LayerVariables(layer=None, trainable=False)
    if feature_columns:
        with variable_scope("gbdt"):
            features = {
                column.name: _transformed(features, column, use_core_columns, state_manager)
                for column in feature_columns
            }
    dense, sparse_floats, sparse_ints = [], [], []
    for key in sorted(features):
        tensor = features[key]
        if isinstance(tensor, tuple):
            tensor = _as_sparse_floats(*tensor)
        if not is_sparse(tensor):
            dense += _dense_columns(key, tensor)
        elif tensor.values.dtype == dtypes.float32:
            sparse_floats.append((key, tensor))
        elif tensor.values.dtype == dtypes.int64:
            sparse_ints.append((key, tensor))
        else:
            raise ValueError(f"Unsupported sparse feature {tensor.indices.name} with dtype {tensor.dtype}.")
    parts = []
    for kind in (sparse_floats, sparse_ints):
        tensors = [tensor for _, tensor in kind]
        parts += [[each.indices for each in tensors], [each.values for each in tensors]]
        parts.append([each.dense_shape for each in tensors])
    names = [name for name, _ in dense + sparse_floats + sparse_ints]
    return ExtractedFeatures(names, [tensor for _, tensor in dense], *parts)

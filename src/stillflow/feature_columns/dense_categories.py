"""tf.feature_column.indicator_column, and what indicators and embeddings of categories have in common."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.sparse import sparse_merge, sparse_tensor_to_dense
from stillflow.feature_columns.columns import (
    CategoricalColumn,
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    of_columns,
)
from stillflow.feature_columns.sequence_length import sequence_length_from_sparse_tensor
from stillflow.feature_columns.state import ScopedVariables
from stillflow.graph.shape import TensorShape
from stillflow.names import public


class _SequenceCategories(NamedTuple):
    categorical_column: Any


@public(
    "python.feature_column.feature_column._SequenceCategoricalColumn",
    "python.feature_column.feature_column_v2.SequenceCategoricalColumn",
)
class SequenceCategoricalColumn(CategoricalColumn, _SequenceCategories):
    """The categories of each step of a sequence."""

    @property
    def _is_v2_column(self):
        return of_columns(self.categorical_column)

    @property
    def name(self):
        return self.categorical_column.name

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    def transform_feature(self, transformation_cache, state_manager):
        return self.categorical_column.transform_feature(transformation_cache, state_manager)

    @property
    def num_buckets(self):
        return self.categorical_column.num_buckets

    def get_sparse_tensors(self, transformation_cache, state_manager):
        """An IdWeightPair [batch, steps, categories of a step]."""
        ids, weights = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        shape = ops.shape(ids)
        target_shape = [shape[0], shape[1], ops.reduce_prod(shape[2:])]
        ids = ops.sparse_reshape(ids, target_shape)
        if weights is not None:
            weights = ops.sparse_reshape(weights, target_shape)
        return self.IdWeightPair(ids, weights)

    @property
    def parents(self):
        return [self.categorical_column]


class DenseOfCategories:
    """What dense columns of a categorical one, `categorical_column`, have in common."""

    name: Any  # what the classes that it is part of have
    categorical_column: Any
    _FUNCTION = ""  # that makes such columns
    _LAYERS = "DenseFeatures", "SequenceFeatures"  # that take them, and those of sequences
    _PREFIX = ""  # of a class in a message of the older spelling

    @property
    def _is_v2_column(self):
        return of_columns(self.categorical_column)

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def parents(self):
        return [self.categorical_column]

    def get_dense_tensor(self, transformation_cache, state_manager):
        column, (layer, sequence_layer) = self.categorical_column, self._LAYERS
        if isinstance(column, SequenceCategoricalColumn):
            prefix = "_" if isinstance(state_manager, ScopedVariables) else ""
            raise ValueError(
                f"In {self._FUNCTION}: {self.name}. categorical_column must not be of type "
                f"{prefix}SequenceCategoricalColumn. Suggested fix A: If you wish to use {layer}, use a non-sequence "
                "categorical_column_with_*. Suggested fix B: If you wish to create sequence input, use "
                f"{sequence_layer} instead of {layer}. Given (type {type(column)}): {column}"
            )
        return self._dense(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        column, (_, layer) = self.categorical_column, self._LAYERS
        if not isinstance(column, SequenceCategoricalColumn):
            prefix = self._PREFIX if isinstance(state_manager, ScopedVariables) else ""
            raise ValueError(
                f"In {self._FUNCTION}: {self.name}. categorical_column must be of type "
                f"{prefix}SequenceCategoricalColumn to use {layer}. Suggested fix: Use one of "
                f"sequence_categorical_column_with_*. Given (type {type(column)}): {column}"
            )
        dense, sparse = self._dense(transformation_cache, state_manager)
        if sparse is None:
            sparse = transformation_cache.sparse_tensors(column, state_manager)
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(sparse.id_tensor))

    def _dense(self, transformation_cache, state_manager):
        """The dense tensor, and the IdWeightPair that it is made of, or None if it has to be made once more."""
        raise NotImplementedError


class _Indicator(NamedTuple):
    categorical_column: Any


@public(
    "python.feature_column.feature_column._IndicatorColumn", "python.feature_column.feature_column_v2.IndicatorColumn"
)
class IndicatorColumn(DenseOfCategories, DenseColumn, SequenceDenseColumn, _Indicator):
    """How often each category is there, or the sum of its weights."""

    _FUNCTION = "indicator_column"
    _PREFIX = "_"

    @property
    def name(self):
        return f"{self.categorical_column.name}_indicator"

    def transform_feature(self, transformation_cache, state_manager):
        ids, weights = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        count = int(self.variable_shape[-1])
        if weights is not None:
            weighted = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=count)
            weighted = ops.sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return ops.scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense_ids = sparse_tensor_to_dense(ids, default_value=-1)
        one_hot = ops.one_hot(dense_ids, depth=count, on_value=1.0, off_value=0.0)
        return ops.reduce_sum(one_hot, axis=[-2])

    @property
    def variable_shape(self):
        return TensorShape([1, self.categorical_column.num_buckets])

    def _dense(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager), None


@public("feature_column.indicator_column", "python.feature_column.feature_column._indicator_column")
def indicator_column(categorical_column):
    """A dense column that counts the categories of another column: [batch, 1, num_buckets]."""
    return IndicatorColumn(categorical_column)

"""tf.feature_column.sequence_*: numbers and categories for each step of sequences, and the layer of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow import ops
from stillflow.composites.checks import assert_equal, assert_type
from stillflow.composites.parsing import VarLenFeature
from stillflow.composites.rank_checks import assert_rank
from stillflow.composites.sparse import sparse_tensor_to_dense
from stillflow.feature_columns import categorical
from stillflow.feature_columns.checks import check_normalizer, check_numeric, checked_shape
from stillflow.feature_columns.columns import OldSequenceDenseColumn, SequenceDenseColumn, checked_columns
from stillflow.feature_columns.dense_categories import SequenceCategoricalColumn
from stillflow.feature_columns.input_layer import check_batch_sizes
from stillflow.feature_columns.sequence_length import sequence_length_from_sparse_tensor
from stillflow.feature_columns.transformation import LazyBuilder
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.variables.scope import variable_scope


@public(
    "feature_column.sequence_categorical_column_with_identity",
    "contrib.feature_column.sequence_categorical_column_with_identity",
)
def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    """Like categorical_column_with_identity, for sequences."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_identity(key, num_buckets, default_value))


@public(
    "feature_column.sequence_categorical_column_with_hash_bucket",
    "contrib.feature_column.sequence_categorical_column_with_hash_bucket",
)
def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """Like categorical_column_with_hash_bucket, for sequences."""
    return SequenceCategoricalColumn(categorical.categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


@public(
    "feature_column.sequence_categorical_column_with_vocabulary_file",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_file",
)
def sequence_categorical_column_with_vocabulary_file(
    key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0, default_value=None, dtype=dtypes.string
):
    """Like categorical_column_with_vocabulary_file, for sequences."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


@public(
    "feature_column.sequence_categorical_column_with_vocabulary_list",
    "contrib.feature_column.sequence_categorical_column_with_vocabulary_list",
)
def sequence_categorical_column_with_vocabulary_list(
    key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0
):
    """Like categorical_column_with_vocabulary_list, for sequences."""
    return SequenceCategoricalColumn(
        categorical.categorical_column_with_vocabulary_list(
            key, vocabulary_list, dtype, default_value, num_oov_buckets
        )
    )


class _SequenceNumeric(NamedTuple):
    key: Any
    shape: Any
    default_value: Any
    dtype: Any
    normalizer_fn: Any


@public("python.feature_column.sequence_feature_column.SequenceNumericColumn")
class SequenceNumericColumn(SequenceDenseColumn, _SequenceNumeric):
    """Numbers for each step of sequences."""

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
        tensor = transformation_cache.get(self.key, state_manager)
        return tensor if self.normalizer_fn is None else self.normalizer_fn(tensor)

    @property
    def variable_shape(self):
        """The shape of the numbers of a step, a TensorShape."""
        return TensorShape(self.shape)

    @property
    def _variable_shape(self):
        return self.variable_shape

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        sparse = transformation_cache.get(self, state_manager)
        dense = sparse_tensor_to_dense(sparse, default_value=self.default_value)
        dense_shape = ops.concat([ops.shape(dense)[:1], [-1], self.variable_shape], axis=0)
        dense = ops.reshape(dense, shape=dense_shape)
        # Of a matrix a row has the numbers of all steps; more dimensions tell the steps apart.
        count = self.variable_shape.num_elements() if sparse.shape.rank == 2 else 1
        return self.TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(sparse, num_elements=count))

    @property
    def parents(self):
        return [self.key]


@public("feature_column.sequence_numeric_column", "contrib.feature_column.sequence_numeric_column")
def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=dtypes.float32, normalizer_fn=None):
    """A column of numbers for each step of sequences.

    Args:
      key: the name of the feature, a SparseTensor.
      shape: how many there are for each step: a number or a tuple.
      default_value: what shorter sequences are filled with.
      dtype: their type in Examples.
      normalizer_fn: a function of the SparseTensor that returns another one.

    Raises TypeError or ValueError for other things.
    """
    shape = checked_shape(shape, key)
    check_numeric(dtype, key)
    check_normalizer(normalizer_fn)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


@public("contrib.feature_column.sequence_input_layer")
def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """The numbers of all columns for each step of sequences.

    Args:
      features: {name: tensor or SparseTensor}.
      feature_columns: sequence_numeric_columns, and embeddings and indicators of sequence_categorical_columns.
      weight_collections: the collections to add variables to.
      trainable: whether optimizers change them.

    Returns:
      A tensor [batch, steps, numbers], and the lengths of the sequences, int64 [batch].

    Raises ValueError for other columns.
    """
    feature_columns = checked_columns(feature_columns)
    for column in feature_columns:
        if not isinstance(column, OldSequenceDenseColumn):
            raise ValueError(
                "All feature_columns must be of type _SequenceDenseColumn. You can wrap a "
                "sequence_categorical_column with an embedding_column or indicator_column. Given (type "
                f"{type(column)}): {column}"
            )
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        builder = LazyBuilder(features)
        tensors, lengths = [], []
        ordered = sorted(feature_columns, key=lambda column: column.name)
        for column in ordered:
            with variable_scope(None, default_name=column._var_scope_name):
                dense, length = column._get_sequence_dense_tensor(
                    builder, weight_collections=weight_collections, trainable=trainable
                )
                shape = ops.shape(dense)
                target_shape = [shape[0], shape[1], column._variable_shape.num_elements()]
                tensors.append(ops.reshape(dense, shape=target_shape))
                lengths.append(length)
        check_batch_sizes(tensors, ordered)
        check_batch_sizes(lengths, ordered)
        sequence_length = all_equal(lengths)
        return ops.concat(tensors, -1), sequence_length


@public("python.feature_column.sequence_feature_column._assert_all_equal_and_return")
def all_equal(tensors, name=None):
    """The first of some tensors; that the others are equal is asserted."""
    with name_scope(name, "assert_all_equal", tensors):
        if len(tensors) == 1:
            return tensors[0]
        checks = [assert_equal(tensors[0], other) for other in tensors[1:]]
        with get_default_graph().control_dependencies(checks):
            return ops.identity(tensors[0])


@public(
    "python.feature_column.sequence_feature_column.concatenate_context_input",
    "contrib.feature_column.python.feature_column.sequence_feature_column.concatenate_context_input",
)
def concatenate_context_input(context_input, sequence_input):
    """Numbers of the steps of sequences, with the same numbers behind those of each step.

    Args:
      context_input: float32 [batch, m].
      sequence_input: float32 [batch, steps, n].

    Returns:
      A tensor [batch, steps, n + m].

    Raises ValueError or TypeError for other ranks and types, when that is known only as the model runs.
    """
    checks = [
        assert_rank(sequence_input, 3, message="sequence_input must have rank 3", data=[ops.shape(sequence_input)]),
        assert_type(
            sequence_input,
            dtypes.float32,
            message=f"sequence_input must have dtype float32; got {sequence_input.dtype}.",
        ),
        assert_rank(context_input, 2, message="context_input must have rank 2", data=[ops.shape(context_input)]),
        assert_type(
            context_input,
            dtypes.float32,
            message=f"context_input must have dtype float32; got {context_input.dtype}.",
        ),
    ]
    with get_default_graph().control_dependencies(checks):
        steps = ops.shape(sequence_input)[1]
        tiled = ops.tile(ops.expand_dims(context_input, 1), ops.concat([[1], [steps], [1]], 0))
    return ops.concat([sequence_input, tiled], 2)

"""tf.feature_column.embedding_column and shared_embedding_columns: categories as vectors that are learned."""

from __future__ import annotations

import math
import weakref
from typing import Any, NamedTuple

from stillflow.composites.embedding_lookup_sparse import safe_embedding_lookup_sparse
from stillflow.feature_columns.categorical import WeightedCategoricalColumn
from stillflow.feature_columns.columns import (
    DenseColumn,
    OldCategoricalColumn,
    OldDenseColumn,
    OldSequenceDenseColumn,
    SequenceDenseColumn,
)
from stillflow.feature_columns.dense_categories import DenseOfCategories
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph, require_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.saver.initialization import init_from_checkpoint
from stillflow.variables.get_variable import get_variable
from stillflow.variables.initializers import TruncatedNormal
from stillflow.variables.partitioned_variables import PartitionedVariable


def _restore_at_start(weights, checkpoint, name):
    """Makes the first value of a variable that of a checkpoint, if there is one."""
    if checkpoint is not None:
        init_from_checkpoint(
            checkpoint, {name: list(weights) if isinstance(weights, PartitionedVariable) else weights}
        )


def _checked_initializer(dimension, initializer, checkpoint, tensor_name, what=""):
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{what}")
    return initializer or TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))


class _EmbeddingOfCategories(DenseOfCategories):
    """A dense column whose vectors are rows of a matrix."""

    combiner: Any
    max_norm: Any

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _rows(self, sparse, weights):
        return safe_embedding_lookup_sparse(
            embedding_weights=weights,
            sparse_ids=sparse.id_tensor,
            sparse_weights=sparse.weight_tensor,
            combiner=self.combiner,
            name=f"{self.name}_weights",
            max_norm=self.max_norm,
        )


class _Embedding(NamedTuple):
    categorical_column: Any
    dimension: Any
    combiner: Any
    initializer: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: Any
    max_norm: Any
    trainable: Any


@public(
    "python.feature_column.feature_column._EmbeddingColumn", "python.feature_column.feature_column_v2.EmbeddingColumn"
)
class EmbeddingColumn(_EmbeddingOfCategories, DenseColumn, SequenceDenseColumn, _Embedding):
    """The vectors of categories, combined into one for each example."""

    _FUNCTION = "embedding_column"

    @property
    def name(self):
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def create_state(self, state_manager):
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _dense(self, transformation_cache, state_manager):
        sparse = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        weights = state_manager.get_variable(self, name="embedding_weights")
        _restore_at_start(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return self._rows(sparse, weights), sparse


@public("feature_column.embedding_column", "python.feature_column.feature_column._embedding_column")
def embedding_column(
    categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
    tensor_name_in_ckpt=None, max_norm=None, trainable=True,
):  # fmt: skip
    """A dense column of the vectors of another column's categories.

    Args:
      categorical_column: the other column.
      dimension: the size of a vector.
      combiner: how vectors of one example become one: "mean", "sqrtn" or "sum".
      initializer: of the matrix of all vectors; a truncated normal of standard deviation 1 / sqrt(dimension) by
        default.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint that the matrix is in, and under what name.
      max_norm: longer vectors are scaled down to this norm.
      trainable: whether optimizers change it.

    Raises ValueError for other things.
    """
    what = f" Embedding of column_name: {getattr(categorical_column, 'name', categorical_column)}"
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, what)
    return EmbeddingColumn(
        categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm,
        trainable,
    )  # fmt: skip


# ---- Of several columns -------------------------------------------------------------------------------------------


class _Shared(NamedTuple):
    categorical_column: Any
    dimension: Any
    combiner: Any
    initializer: Any
    shared_embedding_collection_name: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: Any
    max_norm: Any
    trainable: Any


_OWN_NAME = (
    "Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to this "
    "collection. The feature_column library already adds a variable under the hood."
)


@public("python.feature_column.feature_column._SharedEmbeddingColumn")
class _SharedEmbeddingColumn(_EmbeddingOfCategories, OldDenseColumn, OldSequenceDenseColumn, _Shared):
    """An embedding whose matrix is in a collection of the graph, for input_layer and linear_model."""

    _FUNCTION = "embedding_column"
    _LAYERS = "input_layer", "sequence_input_layer"
    _PREFIX = "_"

    @property
    def _is_v2_column(self):
        return False

    @property
    def name(self):
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self):
        return self.shared_embedding_collection_name

    @property
    def variable_shape(self):
        return TensorShape([self.dimension])

    def create_state(self, state_manager):
        weights = state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(self.categorical_column.num_buckets, self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            initializer=self.initializer,
        )
        get_default_graph().add_to_collection(self.shared_embedding_collection_name, weights)

    def _weights(self, state_manager):
        found = get_default_graph().get_collection(self.shared_embedding_collection_name)
        if not found:
            return state_manager.get_variable(self, name="embedding_weights")
        if len(found) > 1:
            raise ValueError(f"Collection {found} can only contain one variable. {_OWN_NAME}")
        shape = (self.categorical_column.num_buckets, self.dimension)
        if found[0].get_shape() != shape:
            raise ValueError(
                f"Shared embedding collection {self.shared_embedding_collection_name} contains variable "
                f"{found[0].name} of unexpected shape {found[0].get_shape()}. Expected shape is {shape}. {_OWN_NAME}"
            )
        return found[0]

    def _dense(self, transformation_cache, state_manager):
        with name_scope(None, self.name):
            sparse = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
            weights = self._weights(state_manager)
            _restore_at_start(weights, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
            # TensorFlow makes the categories once more for the lengths of sequences, outside of this scope.
            return self._rows(sparse, weights), None


def _check_shared(categorical_columns):
    """Raises ValueError for columns that cannot share a matrix."""
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = ordered[0]
    count = first.num_buckets
    if not isinstance(first, OldCategoricalColumn):
        raise ValueError(
            f"All categorical_columns must be subclasses of _CategoricalColumn. Given: {first}, of type: "
            f"{type(first)}"
        )

    def bare(column):
        return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column

    first = bare(first)
    for other in map(bare, ordered[1:]):
        if not isinstance(other, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column of the same type. Given column: {first} of type: {type(first)} does "
                f"not match given column: {other} of type: {type(other)}"
            )
        if other.num_buckets != count:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {first} with buckets: {count} does  not match column: {other} with buckets: "
                f"{other.num_buckets}"
            )
    return count, "_".join(column.name for column in ordered) + "_shared_embedding"


@public("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns, dimension, combiner="mean", initializer=None, shared_embedding_collection_name=None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True,
):  # fmt: skip
    """Embedding columns of several columns that share one matrix.

    Args:
      categorical_columns: columns of one type with as many categories.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, max_norm, trainable: as for
        embedding_column.
      shared_embedding_collection_name: the collection of the graph that the matrix is put into; also its scope.

    Returns:
      A list of columns.

    Raises:
      ValueError: for other things.
      RuntimeError: in eager execution.
    """
    require_graph("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    _, name = _check_shared(categorical_columns)
    return [
        _SharedEmbeddingColumn(
            column, dimension, combiner, initializer, shared_embedding_collection_name or name, ckpt_to_load_from,
            tensor_name_in_ckpt, max_norm, trainable,
        )
        for column in categorical_columns
    ]  # fmt: skip


@public("python.feature_column.feature_column_v2.SharedEmbeddingColumnCreator")
class SharedEmbeddingColumnCreator:
    """Makes columns that share one matrix, and makes the matrix, one for each graph.

    Args:
      dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, trainable: as for embedding_column.
      num_buckets: how many rows it has.
      name: of the variable.
    """

    def __init__(
        self, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, num_buckets, trainable,
        name="shared_embedding_column_creator",
    ):  # fmt: skip
        self._dimension = dimension
        self._initializer = initializer
        self._checkpoint = ckpt_to_load_from, tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._embedding_weights: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()

    def __call__(self, categorical_column, combiner, max_norm):
        """The column of a categorical column."""
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self):
        """The matrix of the default graph."""
        graph = get_default_graph()
        if graph not in self._embedding_weights:
            weights = get_variable(
                self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            _restore_at_start(weights, *self._checkpoint)
            self._embedding_weights[graph] = weights
        return self._embedding_weights[graph]

    @property
    def dimension(self):
        """The size of a vector."""
        return self._dimension


class _SharedV2(NamedTuple):
    categorical_column: Any
    shared_embedding_column_creator: Any
    combiner: Any
    max_norm: Any


def _refuse(*_):
    raise ValueError(
        "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use `DenseFeatures` or "
        "`LinearModel` instead."
    )


@public("python.feature_column.feature_column_v2.SharedEmbeddingColumn")
class SharedEmbeddingColumn(_EmbeddingOfCategories, DenseColumn, SequenceDenseColumn, _SharedV2):
    """An embedding whose matrix its creator has, for tf.keras.layers.DenseFeatures."""

    _FUNCTION = "embedding_column"

    @property
    def _is_v2_column(self):
        return True

    @property
    def name(self):
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self):
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _dense(self, transformation_cache, state_manager):
        with name_scope(None, self.name):
            sparse = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
            return self._rows(sparse, self.shared_embedding_column_creator.embedding_weights), None

    def _get_config(self):
        raise NotImplementedError

    _parse_example_spec = property(_refuse)
    _variable_shape = property(_refuse)

    def _transform_feature(self, inputs):
        _refuse()

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        _refuse()

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        _refuse()


@public("compat.v2.feature_column.shared_embeddings")
@public("python.feature_column.feature_column_v2.shared_embedding_columns_v2")
def shared_embeddings(
    categorical_columns, dimension, combiner="mean", initializer=None, shared_embedding_collection_name=None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True,
):  # fmt: skip
    """Like shared_embedding_columns, for tf.keras.layers.DenseFeatures; the name is that of the variable."""
    require_graph("shared_embedding_columns are not supported when eager execution is enabled.")
    initializer = _checked_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    count, name = _check_shared(categorical_columns)
    creator = SharedEmbeddingColumnCreator(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, count, trainable,
        shared_embedding_collection_name or name,
    )  # fmt: skip
    return [creator(column, combiner, max_norm) for column in categorical_columns]

"""Columns of vectors for tf.contrib.layers' inputs: learned ones, for each category or for hashes of it."""

from __future__ import annotations

import math
from typing import NamedTuple

from stillflow.composites.parsing import VarLenFeature
from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.column_base import FeatureColumn, LookupArguments
from stillflow.contrib.layers.embedding_weights import embeddings
from stillflow.contrib.layers.plain import inner_flatten
from stillflow.contrib.layers.scattered_embeddings import scattered_embedding_lookup_sparse
from stillflow.contrib.layers.sparse_columns import SparseColumn
from stillflow.feature_columns.columns import OldDenseColumn
from stillflow.graph import dtypes
from stillflow.graph.shape import TensorShape
from stillflow.names import public
from stillflow.variables.initializers import TruncatedNormal


class _VectorColumn(FeatureColumn, OldDenseColumn):
    """A column whose `vectors` have `dimension` numbers each."""

    dimension: int

    @property
    def _variable_shape(self):
        return TensorShape([self.dimension])

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.vectors(inputs.get(self), weight_collections, trainable, 2)


class _EmbeddingFields(NamedTuple):
    sparse_id_column: SparseColumn
    dimension: int
    combiner: str
    initializer: object
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


class _EmbeddingColumn(_VectorColumn, _EmbeddingFields):
    left_out_of_key = ("initializer",)
    suits_sequences = True

    @property
    def name(self):
        kind = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{kind}"

    @property
    def parents(self):
        return (self.sparse_id_column,)

    @property
    def length(self):
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def config(self):
        return self.sparse_id_column.config

    def _transform_feature(self, inputs):
        return inputs.get(self.sparse_id_column)

    def vectors(self, input_tensor, collections, trainable, output_rank):
        source = self.sparse_id_column
        arguments = LookupArguments(
            source.id_tensor(input_tensor), source.weight_tensor(input_tensor), self.length, self.initializer,
            self.combiner,
        )  # fmt: skip
        return embeddings(self, arguments, collections, trainable, output_rank)

    def _wide_embedding_lookup_arguments(self, input_tensor):
        raise ValueError(f"Column {self} is not supported in linear models. Please use sparse_column.")

    def checkpoint_path(self):
        return self.ckpt_to_load_from and (self.ckpt_to_load_from, self.tensor_name_in_ckpt)


def _embedding(
    column, dimension, combiner, initializer, checkpoint, tensor_name, shared_name, shared_size, max_norm, trainable
):
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {column.name}")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        initializer = TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(column.length))
    return _EmbeddingColumn(
        column, dimension, combiner, initializer, checkpoint, tensor_name, shared_name, shared_size, max_norm,
        trainable,
    )  # fmt: skip


@public("contrib.layers.embedding_column")
def embedding_column(
    sparse_id_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
    max_norm=None, trainable=True,
):  # fmt: skip
    """A column of vectors that are learned, one for each category.

    Args:
      sparse_id_column: the categories.
      dimension: of the vectors.
      combiner: how several of a row are put together: "mean", "sqrtn" or "sum".
      initializer: of the vectors; by default normal with a deviation of 1 / sqrt(the number of categories).
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name in it that they come from instead.
      max_norm: the length that longer ones are scaled down to.
      trainable: whether they are trained.

    Raises:
      ValueError: for an initializer that cannot be called, and a checkpoint without name.
    """
    return _embedding(
        sparse_id_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt, None, None,
        max_norm, trainable,
    )  # fmt: skip


@public("contrib.layers.shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns, dimension, combiner="mean", shared_embedding_name=None, initializer=None,
    ckpt_to_load_from=None, tensor_name_in_ckpt=None, max_norm=None, trainable=True,
):  # fmt: skip
    """A list of columns that have the same vectors for the same numbers; see embedding_column.

    Raises:
      TypeError: for what is no list of columns of categories.
      ValueError: for no columns, and such whose categories differ.
    """
    if not isinstance(sparse_id_columns, (list, tuple)):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type "
            f"{type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for column in sparse_id_columns:
        if not hasattr(column, "is_compatible"):
            raise TypeError(
                f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {column} is not."
            )
    first, size = sparse_id_columns[0], None
    if len(sparse_id_columns) > 1:
        if not all(_are_compatible(first, column) for column in sparse_id_columns[1:]):
            raise ValueError("The input sparse id columns are not compatible.")
        shared_embedding_name = shared_embedding_name or _shared_name(sparse_id_columns)
        size = first.length
    given = (ckpt_to_load_from, tensor_name_in_ckpt, shared_embedding_name, size, max_norm, trainable)
    return [_embedding(column, dimension, combiner, initializer, *given) for column in sparse_id_columns]


def _are_compatible(first, column):
    return column.is_compatible(first) if isinstance(first, SparseColumn) else first.is_compatible(column)


def _shared_name(columns):
    plain = sorted((column for column in columns if isinstance(column, SparseColumn)), key=lambda column: column.name)
    weighted = sorted(
        (column for column in columns if not isinstance(column, SparseColumn)), key=lambda column: column.name
    )
    names = [column.name for column in [*plain, *weighted]]
    others = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return f"{'_'.join(names[:3])}{others}_shared_embedding"


# ---- Hashed vectors -----------------------------------------------------------------------------------------------


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int
    combiner: str
    initializer: object


class _ScatteredEmbeddingColumn(_VectorColumn, _ScatteredFields):
    left_out_of_key = ("initializer",)
    suits_sequences = False

    @property
    def name(self):
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self):
        return {self.column_name: VarLenFeature(dtypes.string)}

    def _transform_feature(self, inputs):
        return inputs.get(self.column_name)

    def vectors(self, input_tensor, collections, trainable, output_rank):
        values = inner_flatten(input_tensor, output_rank)
        weights = model_variable(
            name="weights", shape=[self.size], dtype=dtypes.float32, initializer=self.initializer,
            trainable=trainable, collections=collections,
        )  # fmt: skip
        return scattered_embedding_lookup_sparse(
            weights, values, self.dimension, hash_key=self.hash_key, combiner=self.combiner, name="lookup"
        )


@public("contrib.layers.scattered_embedding_column")
def scattered_embedding_column(column_name, size, dimension, hash_key, combiner="mean", initializer=None):
    """A column of vectors whose numbers are picked out of one variable by hashes.

    Args:
      column_name: a feature of strings.
      size: how many numbers the variable has.
      dimension: of the vectors.
      hash_key: as of sparse_feature_cross, of the value and the position in its vector.
      combiner: how several of a row are put together: "mean", "sqrtn" or "sum".
      initializer: of the variable; by default normal with a deviation of 0.1.

    Raises:
      ValueError: for sizes that are not positive, other combiners, and an initializer that cannot be called.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, column_name: "
            f"{column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, column_name: {column_name}"
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    if initializer is None:
        initializer = TruncatedNormal(mean=0.0, stddev=0.1)
    return _ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, initializer)

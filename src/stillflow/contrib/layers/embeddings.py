"""Embeddings: rows of a matrix for ids, and means of them."""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.composites.embedding_lookup import embedding_lookup
from stillflow.composites.embedding_lookup_sparse import embedding_lookup_sparse
from stillflow.composites.shape_checks import assert_same_float_dtype
from stillflow.composites.sparse import sparse_retain
from stillflow.contrib.framework.model_variables import model_variable
from stillflow.contrib.layers.sparse_labels import dense_to_sparse_tensor
from stillflow.graph import dtypes
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import Dimension, TensorShape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.scope import variable_scope


@public("contrib.layers.embed_sequence")
def embed_sequence(
    ids, vocab_size=None, embed_dim=None, unique=False, initializer=None, regularizer=None, trainable=True,
    scope=None, reuse=None,
):  # fmt: skip
    """For each id a row of a matrix: [..., embed_dim].

    Args:
      ids: int32 or int64, [batch, time].
      vocab_size, embed_dim: the matrix's rows and columns; not needed if it is reused.
      unique: whether equal ids are looked up once.
      initializer, regularizer, trainable: of the variable "embeddings".
      scope: of the variables, "EmbedSequence" by default.
      reuse: whether the variable exists.

    Raises:
      ValueError: if the sizes are not given, and the matrix is not reused.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            f"Must specify vocab size and embedding dimension when not reusing. Got vocab_size={vocab_size} and "
            f"embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        is_known = not ((reuse and vocab_size is None) or embed_dim is None)
        embeddings = model_variable(
            "embeddings", shape=[vocab_size, embed_dim] if is_known else None, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
        )  # fmt: skip
        return embedding_lookup_unique(embeddings, ids) if unique else embedding_lookup(embeddings, ids)


@public("contrib.layers.bow_encoder")
def bow_encoder(
    ids, vocab_size, embed_dim, sparse_lookup=True, initializer=None, regularizer=None, trainable=True, scope=None,
    reuse=None,
):  # fmt: skip
    """The mean of the rows of a matrix for a row of ids: [batch, embed_dim].

    Args:
      ids: int32 or int64, [batch, length], dense or sparse; dense ids that are 0 do not count in sparse lookups.
      vocab_size, embed_dim: the matrix's rows and columns.
      sparse_lookup: whether ids are made sparse before.
      initializer, regularizer, trainable: of the variable "embeddings".
      scope: of the variables, "bow_encoder" by default.
      reuse: whether the variable exists.

    Raises:
      ValueError: for sizes of 0.
      TypeError: for sparse ids that are to be looked up densely.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings", shape=[vocab_size, embed_dim], initializer=initializer, regularizer=regularizer,
            trainable=trainable,
        )  # fmt: skip
        is_sparse = isinstance(ids, SparseTensor)
        if sparse_lookup:
            ids = ids if is_sparse else dense_to_sparse_tensor(ids)
            return safe_embedding_lookup_sparse([embeddings], ids, combiner="mean", default_id=0)
        if is_sparse:
            raise TypeError("ids are expected to be dense Tensor, got: %s", ids)
        return ops.reduce_mean(embedding_lookup(embeddings, ids), axis=1)


@public("contrib.layers.embedding_lookup_unique")
def embedding_lookup_unique(params, ids, partition_strategy="mod", name=None):
    """tf.nn.embedding_lookup that looks equal ids up once; faster where many are equal."""
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        shape = ops.shape(ids)
        flat = ops.reshape(ids, ops.reduce_prod(shape, keepdims=True))
        different, places = ops.unique(flat)
        rows = embedding_lookup(params, different, partition_strategy)
        found = ops.gather(rows, places)
        result = ops.reshape(found, ops.concat([shape, ops.shape(rows)[1:]], 0))
        result.set_shape(ids.shape.concatenate(rows.shape[1:]))
        return result


@public("contrib.layers.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights, sparse_ids, sparse_weights=None, combiner=None, default_id=None, name=None,
    partition_strategy="div", max_norm=None,
):  # fmt: skip
    """tf.nn.embedding_lookup_sparse, where negative ids, weights that are not positive and empty rows do no harm.

    Args:
      embedding_weights: a matrix, or a list of its parts.
      sparse_ids: a SparseTensor of ids, of any rank.
      sparse_weights: a SparseTensor of their weights, or None for 1.
      combiner: "mean", the default, "sqrtn" or "sum".
      default_id: the id for rows without any; None for zeros.
      name: of the result.
      partition_strategy: which part of a divided matrix has which row.
      max_norm: what rows are scaled down to.

    Raises:
      ValueError: without a matrix.
    """
    if combiner is None:
        logging.getLogger("tensorflow").warning(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    weights = _parts(embedding_weights, sparse_weights)
    with name_scope(name, "embedding_lookup", [*weights, sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        known_rank = sparse_ids.dense_shape.shape.dims[0].value
        rank = ops.size(shape) if known_rank is None else known_rank
        sparse_ids = ops.sparse_reshape(
            sparse_ids, [ops.reduce_prod(ops.slice(shape, [0], [rank - 1])), ops.gather(shape, rank - 1)]
        )
        if sparse_weights is not None:
            sparse_weights = SparseTensor(sparse_ids.indices, sparse_weights.values, sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _valid(sparse_ids, sparse_weights, combiner)
        sparse_ids, is_empty = ops.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = ops.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(
            weights, sparse_ids, sparse_weights, combiner=combiner, partition_strategy=partition_strategy,
            name=None if default_id is None else scope, max_norm=max_norm,
        )  # fmt: skip
        if default_id is None:
            is_empty = ops.tile(ops.reshape(is_empty, [-1, 1]), ops.stack([1, ops.shape(result)[1]]))
            result = ops.where(is_empty, ops.zeros_like(result), result, name=scope)
        outer = ops.slice(ops.cast(shape, dtypes.int32), [0], [rank - 1])
        inner = ops.slice(ops.shape(result), [1], [-1])
        final = ops.reshape(result, ops.concat([outer, inner], 0))
        outer_rank = (Dimension(known_rank) - 1).value
        unknown = TensorShape(None if outer_rank is None else [None] * outer_rank)
        final.set_shape(unknown.concatenate(result.shape[1:]))
        return final


def _parts(embedding_weights, sparse_weights):
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if isinstance(embedding_weights, PartitionedVariable):
        embedding_weights = list(embedding_weights)
    if not isinstance(embedding_weights, list):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    weights = [convert_to_tensor(part, dtype=dtype) for part in embedding_weights]
    assert_same_float_dtype([*weights, sparse_weights])
    return weights


def _valid(ids, weights, combiner):
    """Ids and weights without negative ids, and without weights that are not positive unless they are summed."""
    is_valid = ops.greater_equal(ids.values, 0)
    if weights is not None:
        is_valid = ops.logical_and(is_valid, ops.ones_like(weights.values, dtype=dtypes.bool_))
    ids = sparse_retain(ids, is_valid)
    if weights is None:
        return ids, None
    weights = sparse_retain(weights, is_valid)
    if combiner != "sum":
        is_valid = ops.greater(weights.values, 0)
        ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    return ids, weights

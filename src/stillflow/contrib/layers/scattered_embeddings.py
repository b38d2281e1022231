"""Embeddings whose numbers are picked out of one variable by hashes of the value and the position in its vector.

Chen, Wilson, Tyree, Weinberger, Chen: Compressing neural networks with the hashing trick, 2015.
"""

from __future__ import annotations

import logging

from stillflow import ops
from stillflow.composites.checks import assert_that
from stillflow.composites.embedding_lookup import as_parts, embedding_lookup
from stillflow.composites.sparse import sparse_tensor_to_dense
from stillflow.contrib.layers.feature_cross import sparse_feature_cross
from stillflow.graph import dtypes
from stillflow.graph.contexts import control_dependencies
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensor

_SUMS = {"sum": "sparse_segment_sum", "mean": "sparse_segment_mean", "sqrtn": "sparse_segment_sqrt_n"}


@public("contrib.layers.feature_column.embedding_ops.scattered_embedding_lookup")
def scattered_embedding_lookup(params, values, dimension, name=None, hash_key=None):
    """A vector for each value: [..., dimension].

    Args:
      params: the numbers, a vector of known size, or its parts: a list or a partitioned variable. The first parts may
        be longer by one.
      values: a tensor of strings or integers.
      dimension: the size of vectors.
      name: a name for the operations.
      hash_key: as of sparse_feature_cross.

    Raises:
      ValueError: for a dimension that is not positive, and parts of other sizes.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return sampled_scattered_embedding_lookup(params, values, dimension=dimension, hash_key=hash_key, name=name)


@public("contrib.layers.python.layers.embedding_ops._sampled_scattered_embedding_lookup")
def sampled_scattered_embedding_lookup(
    params, values, dimension=None, sampled_candidates=None, hash_key=None, name=None
):
    """The same of chosen positions: `sampled_candidates`, [..., count], in place of all `dimension`."""
    params = as_parts(params)
    with name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        shape = ops.shape(values)
        values = ops.reshape(values, [-1, 1])
        if sampled_candidates is None:
            if dimension is None:
                raise ValueError("You must specify either dimension or sampled_candidates.")
            if dimension <= 0:
                raise ValueError(f"Dimension must be >0. Given is {dimension}")
            positions = ops.tile(ops.expand_dims(ops.range(0, dimension), 0), ops.shape(values))
        else:
            dimension = ops.shape(sampled_candidates)[ops.sub(ops.rank(sampled_candidates), 1)]
            positions = _flat_candidates(sampled_candidates, shape, dimension)
        count = _checked_count(params)
        ids = sparse_feature_cross([positions, values], hashed_output=True, num_buckets=count, hash_key=hash_key)
        found = embedding_lookup(params, sparse_tensor_to_dense(ids), partition_strategy="div")
        return ops.reshape(found, ops.concat([shape, [dimension]], 0))


def _flat_candidates(candidates, shape, dimension):
    given = ops.shape(candidates)
    expected = ops.concat([shape, ops.reshape(dimension, shape=[1])], 0)
    message = ["The shape of sampled_candidates: ", given, " does not match the shape of values: ", shape]
    with control_dependencies([assert_that(ops.reduce_all(ops.equal(given, expected)), message)]):
        return ops.reshape(candidates, [-1, dimension])


def _checked_count(params):
    """How many numbers the parts have together."""
    sizes = []
    for part in params:
        part.get_shape().assert_has_rank(1)
        part.get_shape().assert_is_fully_defined()
        sizes.append(part.get_shape().as_list()[0])
    count = sum(sizes)
    for i, size in enumerate(sizes):
        expected = (count - i - 1) // len(sizes) + 1
        if size != expected:
            raise ValueError(f"Tensor {i} in params has size {size}, expected {expected}.")
    return count


@public("contrib.layers.feature_column.embedding_ops.scattered_embedding_lookup_sparse")
def scattered_embedding_lookup_sparse(
    params, sparse_values, dimension, combiner=None, default_value=None, name=None, hash_key=None
):
    """A vector for each row of a SparseTensor: what its values' vectors are combined to, [rows, dimension].

    Args:
      params, dimension, hash_key: as of `scattered_embedding_lookup`.
      sparse_values: a matrix of strings or integers, a SparseTensor.
      combiner: "mean", the default, "sqrtn" or "sum".
      default_value: the value of empty rows.
      name: a name for the operations.

    Raises:
      TypeError: for anything but a SparseTensor.
      ValueError: for other combiners.
    """
    if combiner is None:
        logging.getLogger("tensorflow").warning(
            'The default value of combiner will change from "mean" to "sqrtn" after 2016/11/01.'
        )
        combiner = "mean"
    params = as_parts(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with name_scope(name, "scattered_embedding_lookup_sparse", [*params, sparse_values]) as scope:
        if default_value is None:  # what no program has
            default_value = "6ZxWzWOHxZ" if sparse_values.dtype == dtypes.string else 1288896567
        filled, _ = ops.sparse_fill_empty_rows(sparse_values, default_value)
        rows = ops.cast(filled.indices[:, 0], dtypes.int32)
        values, places = ops.unique(filled.values)
        vectors = scattered_embedding_lookup(params, values, dimension, hash_key=hash_key)
        if combiner not in _SUMS:
            raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return getattr(ops, _SUMS[combiner])(vectors, places, rows, name=scope)


@public("contrib.layers.python.layers.embedding_ops._sampled_scattered_embedding_lookup_sparse")
def sampled_scattered_embedding_lookup_sparse(
    params, sp_values, dimension=None, sampled_candidates=None, hash_key=None, with_sign_hash=False, name=None
):
    """A vector for each row of a SparseTensor: the sum of its values' vectors.

    Args:
      params, dimension, hash_key: as of `scattered_embedding_lookup`.
      sp_values: a matrix of strings or integers, a SparseTensor.
      sampled_candidates: the positions that are wanted of each row, [rows, count], in place of `dimension`.
      with_sign_hash: whether hashes choose the signs of numbers too, so that collisions even out.
      name: a name for the operations.

    Raises:
      TypeError: for anything but a SparseTensor.
    """
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    values = [sp_values, params, dimension, sampled_candidates]
    with name_scope(name, "sampled_scattered_embedding_lookup_sparse", values) as scope:
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = ops.gather(sampled_candidates, rows)
        chosen = {"dimension": dimension, "sampled_candidates": sampled_candidates, "hash_key": hash_key}
        vectors = sampled_scattered_embedding_lookup(params, sp_values.values, name="values_lookup", **chosen)
        if with_sign_hash:
            both = ops.constant([-1.0, 1.0])
            signs = sampled_scattered_embedding_lookup(both, sp_values.values, name="signs_lookup", **chosen)
            vectors = ops.mul(signs, vectors, name="signs_hash")
        rows = ops.cast(rows, dtypes.int32)
        return ops.unsorted_segment_sum(vectors, rows, num_segments=ops.shape(sp_values)[0], name=scope)

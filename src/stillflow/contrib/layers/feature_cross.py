"""sparse_feature_cross: all combinations of features, as tf.contrib.layers makes them."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.ops.sparse.cross import crossed

SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY = public(
    "contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
    "contrib.layers.python.ops.sparse_feature_cross_op.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY",
)(0xDECAFCAFFE)


@public("contrib.layers.feature_column.sparse_feature_cross_op.sparse_feature_cross")
def sparse_feature_cross(inputs, hashed_output=False, num_buckets=0, name=None, hash_key=None):
    """All combinations of features of each row.

    Args:
      inputs: a list of matrices of integers or strings, SparseTensors or tensors, with as many rows.
      hashed_output: whether the result has hashes instead of texts, which are put together with "_X_".
      num_buckets: how many different hashes there are; 0 for 2^63 - 1.
      name: the node's name.
      hash_key: an integer that all hashes depend on. Without one hashes are combined in the way of before 2017.

    Returns:
      A SparseTensor of int64 or strings [rows, the most combinations of a row].

    Raises TypeError for anything but a list of tensors.
    """
    if hash_key:
        return crossed(ops.sparse_feature_cross_v2, inputs, hashed_output, num_buckets, name, hash_key=hash_key)
    return crossed(ops.sparse_feature_cross, inputs, hashed_output, num_buckets, name)

"""tf.*, of which most names are tf.sparse.* too: sparse tensors.

A sparse tensor is a SparseTensor; most functions take a SparseTensorValue as well, and raise TypeError for
anything else. Entries are taken to be in row-major order.
"""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import confusion_matrix as _confusion_matrix
from stillflow.composites import sparse
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes
from stillflow.ops import convert
from stillflow.ops.sparse_tensor import SparseTensor, SparseTensorValue
from stillflow.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor as _to_tensor_or_sparse

__all__ = [
    "SparseTensor",
    "SparseTensorValue",
    "confusion_matrix",
    "convert_to_tensor_or_sparse_tensor",
    "sparse_add",
    "sparse_concat",
    "sparse_fill_empty_rows",
    "sparse_mask",
    "sparse_maximum",
    "sparse_merge",
    "sparse_minimum",
    "sparse_placeholder",
    "sparse_reduce_max",
    "sparse_reduce_max_sparse",
    "sparse_reduce_sum",
    "sparse_reduce_sum_sparse",
    "sparse_reorder",
    "sparse_reset_shape",
    "sparse_reshape",
    "sparse_retain",
    "sparse_slice",
    "sparse_softmax",
    "sparse_split",
    "sparse_tensor_dense_matmul",
    "sparse_tensor_to_dense",
    "sparse_to_indicator",
    "sparse_transpose",
]


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A SparseTensor for a SparseTensor or SparseTensorValue, a tensor for anything else.

    Raises RuntimeError if a sparse value is not of `dtype`.
    """
    return _to_tensor_or_sparse(value, dtype, name)


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor that every run that needs it must feed: with a SparseTensorValue, or its three parts.

    `shape` is the shape of the whole: a list, in which None is a size that is not known, or a tensor.
    """
    return sparse.sparse_placeholder(dtype, shape, name)


def from_dense(tensor, name=None):
    """The elements of a tensor that are not zero, as a SparseTensor."""
    return sparse.from_dense(tensor, name)


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value`, or zero, where there is no entry."""
    return sparse.sparse_tensor_to_dense(sp_input, default_value, validate_indices, name)


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one, each transposed first if asked for."""
    return ops.sparse_tensor_dense_matmul(sp_a, b, adjoint_a, adjoint_b, name)


def sparse_reorder(sp_input, name=None):
    """The same sparse tensor with its entries in row-major order."""
    return ops.sparse_reorder(sp_input, name)


def sparse_reshape(sp_input, shape, name=None):
    """The same entries in another shape of as many elements; one size may be -1.

    Raises ValueError if the shape is known not to fit.
    """
    return ops.sparse_reshape(sp_input, shape, name)


def sparse_concat(
    axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None
):
    """Sparse tensors side by side along `axis`.

    `expand_nonconcat_dims` makes the sizes along other axes the largest of all; otherwise they must be equal.
    """
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    return ops.sparse_concat(renamed("axis", axis, "concat_dim", concat_dim), sp_inputs, expand_nonconcat_dim, name)


def sparse_slice(sp_input, start, size, name=None):
    """The part from `start` on, of `size` or to where the whole ends."""
    return ops.sparse_slice(sp_input, start, size, name)


def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    """A list of `num_split` parts along `axis`, of which the first may be longer by one. Arguments go by name."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    axis = renamed("axis", axis, "split_dim", split_dim)
    for key, value in (("sp_input", sp_input), ("num_split", num_split), ("axis", axis)):
        if value is None:
            raise ValueError(f"{key} is required")
    return ops.sparse_split(sp_input, num_split, axis, name)


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of which one at least is sparse: dense if one is dense.

    Entries of a sparse sum of a magnitude below `threshold` are left out.

    Raises TypeError if both are dense.
    """
    threshold = renamed("threshold", threshold, "thresh", thresh)
    return ops.sparse_add(a, b, 0 if threshold is None else threshold)


def _reduction(build, sp_input, axis, keepdims, reduction_axes, keep_dims):
    return build(sp_input, axis, bool(renamed("keepdims", keepdims, "keep_dims", keep_dims)), reduction_axes)


def sparse_reduce_sum(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """Sums over `axis`, or over all axes, as a dense tensor."""
    return _reduction(ops.sparse_reduce_sum, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_sum_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """Sums over `axis`, or over all axes, as a SparseTensor."""
    return _reduction(ops.sparse_reduce_sum_sparse, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest entries over `axis`, or over all axes, as a dense tensor; 0 where there is no entry."""
    return _reduction(ops.sparse_reduce_max, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_reduce_max_sparse(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
    """The largest entries over `axis`, or over all axes, as a SparseTensor."""
    return _reduction(ops.sparse_reduce_max_sparse, sp_input, axis, keepdims, reduction_axes, keep_dims)


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """(sparse tensor, bools): rows without an entry get `default_value` at their beginning, and which those are."""
    return ops.sparse_fill_empty_rows(sp_input, default_value, name)


def sparse_retain(sp_input, to_retain):
    """The entries for which `to_retain`, a bool for each, is true."""
    return sparse.sparse_retain(sp_input, to_retain)


def sparse_reset_shape(sp_input, new_shape=None):
    """The same entries in a larger shape, or in the smallest that holds them. Raises ValueError for a smaller one."""
    return sparse.sparse_reset_shape(sp_input, new_shape)


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows `mask_indices`."""
    return sparse.sparse_mask(a, mask_indices, name)


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """A sparse tensor with the entries of `sp_values` at the columns that the entries of `sp_ids` say.

    Args:
      sp_ids: int32 or int64; or a list of such, for several columns.
      sp_values: values at the same places.
      vocab_size: how many columns there are, or a list as long as that of `sp_ids`.
      already_sorted: whether the result need not be put in order.
    """
    return sparse.sparse_merge(sp_ids, sp_values, vocab_size, name, already_sorted)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """A dense bool tensor that is true at the columns that the entries of each row say."""
    return sparse.sparse_to_indicator(sp_input, vocab_size, name)


def sparse_softmax(sp_input, name=None):
    """Softmax over the entries of each row; the last axis is the row."""
    return ops.sparse_softmax(sp_input, name)


def sparse_maximum(sp_a, sp_b, name=None):
    """The greater elements of two sparse tensors of one shape, wherever one of them has an entry."""
    return ops.sparse_maximum(sp_a, sp_b, name)


def sparse_minimum(sp_a, sp_b, name=None):
    """The lesser elements of two sparse tensors of one shape, wherever one of them has an entry."""
    return ops.sparse_minimum(sp_a, sp_b, name)


def sparse_transpose(sp_input, perm=None, name=None):
    """The sparse tensor with its axes in the order `perm`, or reversed."""
    return sparse.sparse_transpose(sp_input, perm, name)


def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A sparse identity matrix."""
    return sparse.sparse_eye(num_rows, num_columns, dtype, name)


def sparse_expand_dims(sp_input, axis=None, name=None):
    """The sparse tensor with an axis of size 1 put in before `axis`, or at the end."""
    return sparse.sparse_expand_dims(sp_input, axis, name)


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """A matrix whose element [i, j] says how often a label i was predicted to be j.

    Args:
      labels, predictions: integers, [n] or [n, 1].
      num_classes: the size of the matrix; the largest class and one by default.
      dtype: the type of the matrix.
      weights: how much each prediction counts; 1 by default.

    Raises:
      InvalidArgumentError: for negative classes, or classes from `num_classes` on.
      ValueError: if the shapes do not fit each other.
    """
    return _confusion_matrix.confusion_matrix(labels, predictions, num_classes, weights, dtype, name)

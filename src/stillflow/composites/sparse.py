"""Composite functions on sparse tensors: placeholders, merges, transposition, ..."""

from __future__ import annotations

import numbers

import numpy as np

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph import dtypes
from stillflow.graph.default_graph import require_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import with_dependencies
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.sparse_tensor import SparseTensor, as_sparse_tensor, is_sparse


@public("sparse_placeholder", "sparse.placeholder")
def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor that every run that needs it must feed: with a SparseTensorValue, or its three parts.

    `shape` is the shape of the whole: a list, in which None is a size that is not known, or a tensor.
    """
    require_graph("tf.placeholder() is not compatible with eager execution.")

    def named(part):
        return None if name is None else f"{name}/{part}"

    rank = None
    if shape is not None:
        rank = shape.shape[0] if isinstance(shape, Tensor) else len(shape)
        if isinstance(shape, Tensor) or None not in shape:
            shape = convert_to_tensor(shape, dtypes.int64, name=named("shape"))
    if not isinstance(shape, Tensor):
        shape = ops.placeholder(dtype=dtypes.int64, shape=TensorShape([rank]), name=named("shape"))
    values = ops.placeholder(dtype=dtype, shape=TensorShape([None]), name=named("values"))
    indices = ops.placeholder(dtype=dtypes.int64, shape=TensorShape([None, rank]), name=named("indices"))
    return SparseTensor(indices, values, shape)


@public("sparse.from_dense")
def from_dense(tensor, name=None):
    """The elements of a tensor that are not zero, as a SparseTensor."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        indices = ops.where_v2(ops.not_equal(tensor, ops.constant(0, tensor.dtype)))
        values = ops.gather_nd(tensor, indices)
        return SparseTensor(indices, values, ops.shape(tensor, out_type=dtypes.int64))


@public("sparse_tensor_to_dense", "sparse.to_dense")
def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value`, or zero, where there is no entry."""
    sp_input = as_sparse_tensor(sp_input)
    if default_value is None:
        default_value = ops.zeros([], sp_input.dtype)
    return ops.sparse_to_dense_op(
        sp_input.indices,
        sp_input.dense_shape,
        sp_input.values,
        default_value,
        validate_indices=validate_indices,
        name=name,
    )


def _as_int64(value, name):
    if isinstance(value, (numbers.Integral, np.integer)):
        return convert_to_tensor(value, dtypes.int64, name=name)
    if not isinstance(value, Tensor):
        raise TypeError(f"{name} must be an integer value")
    return value if value.dtype is dtypes.int64 else ops.cast(value, dtypes.int64)


@public("sparse.eye")
def sparse_eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A sparse identity matrix."""
    with name_scope(name, "eye", [num_rows, num_columns]):
        rows = _as_int64(num_rows, "num_rows")
        columns = rows if num_columns is None else _as_int64(num_columns, "num_columns")
        size = ops.minimum(rows, columns)
        diagonal = ops.range(size, dtype=dtypes.int64)
        places = ops.stack([diagonal, diagonal], axis=1)
        return SparseTensor(places, ops.ones(size, dtype), [rows, columns])


@public("sparse.expand_dims")
def sparse_expand_dims(sp_input, axis=None, name=None):
    """The sparse tensor with an axis of size 1 put in before `axis`, or at the end."""
    rank = sp_input.dense_shape.shape[0]
    axis = -1 if axis is None else axis
    with name_scope(name, "expand_dims", [sp_input]):
        if isinstance(axis, (numbers.Integral, np.integer)):
            axis = convert_to_tensor(axis, dtypes.int32, name="axis")
        elif not isinstance(axis, Tensor):
            raise TypeError("axis must be an integer value in range [-rank(sp_input) - 1, rank(sp_input)]")
        axis = ops.where_v2(axis >= 0, axis, axis + rank + 1)
        count = ops.shape(sp_input.indices)[0]
        column = ops.zeros([count, 1], dtypes.int64)
        before = ops.slice(sp_input.indices, [0, 0], [-1, axis])
        after = ops.slice(sp_input.indices, [0, axis], [-1, -1])
        indices = ops.concat([before, column, after], axis=1)
        shape_before = ops.slice(sp_input.dense_shape, [0], [axis])
        shape_after = ops.slice(sp_input.dense_shape, [axis], [-1])
        size = convert_to_tensor([1], dtypes.int64, name="new_shape")
        shape = ops.concat([shape_before, size, shape_after], axis=0)
        return SparseTensor(indices, sp_input.values, shape)


@public("sparse_transpose", "sparse.transpose")
def sparse_transpose(sp_input, perm=None, name=None):
    """The sparse tensor with its axes in the order `perm`, or reversed."""
    with name_scope(name, "SparseTranspose", [sp_input]):
        if perm is None:
            rank = ops.rank(sp_input)
            perm = rank - 1 - ops.range(0, rank, 1)
        indices = ops.transpose(ops.gather(ops.transpose(sp_input.indices), perm))
        known = constant_value(convert_to_tensor(perm))
        if known is not None and sp_input.shape.is_fully_defined():
            dims = sp_input.shape.as_list()
            shape = [dims[axis] for axis in known] + dims[len(known) :]
        else:
            shape = ops.gather(sp_input.dense_shape, perm)
        return ops.sparse_reorder(SparseTensor(indices, sp_input.values, shape))


@public("sparse_retain", "sparse.retain")
def sparse_retain(sp_input, to_retain):
    """The entries for which `to_retain`, a bool for each, is true."""
    sp_input = as_sparse_tensor(sp_input)
    to_retain = convert_to_tensor(to_retain)
    to_retain.shape.assert_has_rank(1)
    if sp_input.values.shape.rank is not None and to_retain.shape.rank is not None:
        sp_input.values.shape.dims[0].merge_with(to_retain.shape.dims[0])
    places = ops.reshape(ops.where_v2(to_retain), [-1])
    indices = ops.gather(sp_input.indices, places)
    values = ops.gather(sp_input.values, places)
    return SparseTensor(indices, values, ops.identity(sp_input.dense_shape))


@public("sparse_reset_shape", "sparse.reset_shape")
def sparse_reset_shape(sp_input, new_shape=None):
    """The same entries in a larger shape, or in the smallest that holds them. Raises ValueError for a smaller one."""
    sp_input = as_sparse_tensor(sp_input)
    indices, values = ops.identity(sp_input.indices), ops.identity(sp_input.values)
    old_shape = ops.identity(sp_input.dense_shape)
    if new_shape is None:
        largest = ops.reduce_max(indices, axis=0)
        zero = ops.constant(0, dtype=dtypes.int64)
        return SparseTensor(indices, values, ops.maximum(zero, ops.add(largest, ops.ones_like(old_shape))))
    shape = convert_to_tensor(new_shape)
    shape.shape.assert_has_rank(1)
    shape = ops.cast(shape, dtypes.int64)
    if shape.shape.rank is not None:
        shape.shape.dims[0].merge_with(old_shape.shape.dims[0])
    known = constant_value(shape)
    if known is not None and sp_input.shape.is_fully_defined():
        old = np.array(sp_input.shape.as_list())
        if not np.all(old <= known):
            raise ValueError(
                "Requested new_shape should have dimension sizes >= sp_input.shape.  "
                f"Found new_shape ({old}), sp_input.shape ({known})."
            )
        return SparseTensor(indices, values, known)
    is_of_rank = checks.assert_comparison("assert_equal", ops.shape(old_shape), ops.shape(shape))
    shape = with_dependencies([is_of_rank], shape)
    is_larger = checks.assert_comparison("assert_less_equal", old_shape, shape)
    return SparseTensor(indices, values, with_dependencies([is_larger], shape))


@public("sparse_mask", "sparse.mask")
def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows `mask_indices`."""
    with name_scope(name, "sparse_mask", [a, mask_indices]) as scope:
        indices, places = ops.list_diff(a.indices, mask_indices)
        return IndexedSlices(ops.gather(a.values, places, name=scope), indices, a.dense_shape)


# ---- Ids and values ---------------------------------------------------------------------------------------------


@public("sparse_merge", "sparse.merge")
def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """A sparse tensor with the entries of `sp_values` at the columns that the entries of `sp_ids` say.

    Args:
      sp_ids: int32 or int64; or a list of such, for several columns.
      sp_values: values at the same places.
      vocab_size: how many columns there are, or a list as long as that of `sp_ids`.
      already_sorted: whether the result need not be put in order.
    """
    if is_sparse(sp_ids):
        sp_ids = [sp_ids]
        if not isinstance(vocab_size, (Tensor, numbers.Integral, np.integer)):
            raise TypeError(f"vocab_size has to be a Tensor or Python int. Found {type(vocab_size)}")
        vocab_size = [vocab_size]
    else:
        if not hasattr(sp_ids, "__iter__"):
            raise TypeError(f"sp_ids has to be a SparseTensor or list thereof. Found {type(sp_ids)}")
        if not hasattr(vocab_size, "__iter__"):
            raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(vocab_size)}")
        for size in vocab_size:
            if not isinstance(size, (Tensor, numbers.Integral, np.integer)):
                raise TypeError(f"vocab_size has to be a list of Tensors or Python ints. Found {type(size)}")
    if len(sp_ids) != len(vocab_size):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge", [sp_ids, sp_values]):
        sp_ids = [as_sparse_tensor(ids) for ids in sp_ids]
        sp_values = as_sparse_tensor(sp_values)
        columns = [ops.expand_dims(ops.cast(ids.values, dtypes.int64), 1) for ids in sp_ids]
        sizes = [ops.cast(size, dtypes.int64) for size in vocab_size]
        indices = ops.concat([sp_ids[0].indices[:, :-1], *columns], 1)
        values = sp_values.values
        shape = ops.concat([sp_ids[0].dense_shape[:-1], sizes], 0)
        result = SparseTensor(indices, values, shape)
        if already_sorted:
            return result
        result = ops.sparse_reorder(result)
        return SparseTensor(result.indices, result.values, shape)


@public("sparse_to_indicator", "sparse.to_indicator")
def sparse_to_indicator(sp_input, vocab_size, name=None):
    """A dense bool tensor that is true at the columns that the entries of each row say."""
    sp_input = as_sparse_tensor(sp_input)
    with name_scope(name, "SparseToIndicator", [sp_input]) as scope:
        count = ops.shape(sp_input.indices)[0]
        values = ops.fill(ops.expand_dims(count, 0), True)
        values = SparseTensor(sp_input.indices, values, sp_input.dense_shape)
        merged = sparse_merge(sp_input, values, vocab_size, scope)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)

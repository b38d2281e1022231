"""tf.*: tensors made, reshaped, joined, cut and looked up."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import sort as _sort
from stillflow.facade.arguments import renamed
from stillflow.graph import dtypes

__all__ = [
    "argsort",
    "batch_gather",
    "broadcast_dynamic_shape",
    "broadcast_static_shape",
    "broadcast_to",
    "concat",
    "constant",
    "expand_dims",
    "fill",
    "gather",
    "gather_nd",
    "identity_n",
    "invert_permutation",
    "lin_space",
    "linspace",
    "matrix_transpose",
    "one_hot",
    "ones",
    "ones_like",
    "pack",
    "pad",
    "parallel_stack",
    "range",
    "rank",
    "reshape",
    "scatter_nd",
    "sequence_mask",
    "shape",
    "shape_n",
    "size",
    "slice",
    "sort",
    "sparse_to_dense",
    "split",
    "squeeze",
    "stack",
    "strided_slice",
    "tensor_scatter_add",
    "tensor_scatter_nd_add",
    "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update",
    "tensor_scatter_sub",
    "tensor_scatter_update",
    "tile",
    "transpose",
    "unpack",
    "unstack",
    "zeros",
    "zeros_like",
]

# ---- Made ---------------------------------------------------------------------------------------------------


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant tensor.

    Args:
      value: a Python value, nested lists, or an array.
      dtype: the element type; by default that of the value, with Python floats as float32 and ints as int32.
      shape: the shape; fewer values than it holds are filled up with the last one.
      verify_shape: whether the value must have exactly that shape.
    """
    return ops.constant(value, dtype, shape, name, verify_shape)


def zeros(shape, dtype=dtypes.float32, name=None):
    """A tensor of zeros."""
    return ops.zeros(shape, dtype, name)


def ones(shape, dtype=dtypes.float32, name=None):
    """A tensor of ones."""
    return ops.ones(shape, dtype, name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros of the shape of `tensor`, and of its type unless `dtype` is given."""
    return ops.zeros_like(tensor, dtype, name, optimize)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones of the shape of `tensor`, and of its type unless `dtype` is given."""
    return ops.ones_like(tensor, dtype, name, optimize)


def fill(dims, value, name=None):
    """A tensor of shape `dims` with the scalar `value` in every element."""
    return ops.fill(dims, value, name)


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` (0 if only one is given) up to, without, `limit`, in steps of `delta`."""
    return ops.range(start, limit, delta, dtype, name)


def linspace(start, stop, num, name=None):
    """`num` floating numbers in equal steps from `start` to `stop`, both included."""
    return ops.lin_space(start, stop, num, name=name)


lin_space = linspace


# ---- Described ----------------------------------------------------------------------------------------------


def shape(input, name=None, out_type=dtypes.int32):
    """The shape of a tensor, an integer vector."""
    return ops.shape(input, name, out_type)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of several tensors of one type."""
    return ops.shape_n(input, out_type=out_type, name=name)


def size(input, name=None, out_type=dtypes.int32):
    """The number of elements of a tensor, an integer scalar."""
    return ops.size(input, name, out_type)


def rank(input, name=None):
    """The number of dimensions of a tensor, an int32 scalar."""
    return ops.rank(input, name)


# ---- Reshaped and reordered -----------------------------------------------------------------------------------


def reshape(tensor, shape, name=None):
    """The elements of `tensor` in another shape, in which one size may be -1."""
    return ops.reshape(tensor, shape, name=name)


def expand_dims(input, axis=None, name=None, dim=None):
    """`input` with a dimension of size 1 inserted at `axis`. Raises ValueError for an axis out of range."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return ops.expand_dims(input, axis, name=name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """`input` without its dimensions of size 1, or without those that `axis` (an integer or several) names."""
    return ops.squeeze(input, renamed("axis", axis, "squeeze_dims", squeeze_dims), name)


def transpose(a, perm=None, name="transpose", conjugate=False):
    """`a` with dimension i taken from dimension perm[i]; without `perm`, in reverse order."""
    return ops.transpose(a, perm, name, conjugate)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """`a` with its last two dimensions exchanged."""
    return ops.matrix_transpose(a, name, conjugate)


def invert_permutation(x, name=None):
    """y with y[x[i]] = i, for an integer vector that is a permutation of 0, 1, ..., n - 1."""
    return ops.invert_permutation(x, name=name)


# ---- Joined and cut -------------------------------------------------------------------------------------------


def concat(values, axis, name="concat"):
    """Tensors whose shapes differ in `axis` only, joined along it."""
    return ops.concat(values, axis, name)


def stack(values, axis=0, name="stack"):
    """Tensors of one shape stacked along a new dimension `axis`."""
    return ops.stack(values, axis, name)


def parallel_stack(values, name="parallel_stack"):
    """Tensors of one known shape stacked along a new first dimension."""
    return ops.parallel_stack(values, name)


def unstack(value, num=None, axis=0, name="unstack"):
    """A list of the parts of `value` along `axis`; `num` says how many where that is not known."""
    return ops.unstack(value, num, axis, name)


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """`value` cut along `axis` into that many equal parts, or into parts of those sizes; a list."""
    return ops.split(value, num_or_size_splits, axis, num, name)


def slice(input_, begin, size, name=None):
    """The part of `input_` from `begin` on, of that size; -1 takes all that is left."""
    return ops.slice(input_, begin, size, name)


def strided_slice(
    input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
    shrink_axis_mask=0, var=None, name=None,
):  # fmt: skip
    """The part of `input_` from `begin` to `end` in steps of `strides`; what `input_[a:b:c, ...]` is made of.

    Bit i of a mask says of entry i: the beginning, or the end, is not given; the entry stands for all dimensions
    that no other one names; it makes a new dimension; it is a single index whose dimension goes away.
    """
    return ops.strided_slice(
        input_, begin, end, strides, begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask, var, name
    )


# ---- Repeated and padded --------------------------------------------------------------------------------------


def tile(input, multiples, name=None):
    """`input` repeated: dimension i multiples[i] times."""
    return ops.tile(input, multiples, name=name)


def broadcast_to(input, shape, name=None):
    """`input` in a larger shape, its dimensions of size 1 repeated."""
    return ops.broadcast_to(input, shape, name=name)


def broadcast_static_shape(shape_x, shape_y):
    """The TensorShape of two TensorShapes broadcast against each other. Raises ValueError if they do not fit."""
    return ops.broadcast_static_shape(shape_x, shape_y)


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape, an integer vector tensor, of two such shapes broadcast against each other."""
    return ops.broadcast_args(shape_x, shape_y)


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """`tensor` with elements before and after each dimension, as many as the rows (before, after) of `paddings` say.

    `mode` is "CONSTANT", with `constant_values`; "REFLECT", mirrored at the outermost elements; or "SYMMETRIC",
    mirrored just outside of them.
    """
    return ops.pad(tensor, paddings, mode, name, constant_values)


# ---- Picked and put -------------------------------------------------------------------------------------------


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """The parts of `params` at `indices`, an integer tensor, along `axis` (`batch_dims` by default).

    `batch_dims` leading dimensions of both are the same, with a choice of its own for each.
    """
    return ops.gather(params, indices, validate_indices, name, axis, batch_dims)


def gather_nd(params, indices, name=None, batch_dims=0):
    """The parts of `params` at the index tuples in the last dimension of `indices`."""
    return ops.gather_nd(params, indices, name, batch_dims)


def batch_gather(params, indices, name=None):
    """gather along the last dimension of `indices`, within each of the dimensions before."""
    return ops.batch_gather(params, indices, name)


def scatter_nd(indices, updates, shape, name=None):
    """`updates` added up at the index tuples in the last dimension of `indices`, in zeros of that shape."""
    return ops.scatter_nd(indices, updates, shape, name=name)


def tensor_scatter_update(tensor, indices, updates, name=None):
    """`tensor` with `updates` at the index tuples in the last dimension of `indices`."""
    return ops.tensor_scatter_update(tensor, indices, updates, name=name)


def tensor_scatter_add(tensor, indices, updates, name=None):
    """`tensor` with `updates` added at the index tuples in the last dimension of `indices`."""
    return ops.tensor_scatter_add(tensor, indices, updates, name=name)


def tensor_scatter_sub(tensor, indices, updates, name=None):
    """`tensor` with `updates` subtracted at the index tuples in the last dimension of `indices`."""
    return ops.tensor_scatter_sub(tensor, indices, updates, name=name)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """A tensor with a new dimension of size `depth`, in which element i is `on_value` where the index is i.

    `on_value` and `off_value` are 1 and 0 by default, `axis` the last dimension, `dtype` float32.
    """
    return ops.one_hot(indices, depth, on_value, off_value, axis, dtype, name)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool_, name=None):
    """A mask with a row of `maxlen` places for each length, true in its first so many."""
    return ops.sequence_mask(lengths, maxlen, dtype, name)


def identity_n(input, name=None):
    """A list of the tensors in the list `input`, as one node."""
    return ops.identity_n(input, name=name)


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """An array of one value everywhere but at some places.

    Args:
      sparse_indices: int32 or int64: the places, [n, rank], or [n] or a scalar if the output is a vector.
      output_shape: the output's shape, a vector of the same type.
      sparse_values: the values there, [n] or a scalar.
      default_value: the value elsewhere, a scalar of the same type.
      validate_indices: whether the places must be in order and different.

    Raises:
      InvalidArgumentError: when run, if a place is outside of the output, or out of order.
    """
    return ops.sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value, validate_indices, name)


# Names from before TensorFlow 1.0.


def pack(values, axis=0, name="pack"):
    """Tensors of one shape stacked along a new dimension `axis`."""
    return ops.stack(values, axis, name)


def unpack(value, num=None, axis=0, name="unpack"):
    """A list of the parts of `value` along `axis`."""
    return ops.unstack(value, num, axis, name)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements in order along `axis`, a known number; `direction` is "ASCENDING" or "DESCENDING"."""
    return _sort.sort(values, axis, direction, name)


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """The places of the elements in order along `axis`; equal ones always stay as they are."""
    return _sort.argsort(values, axis, direction, name)


tensor_scatter_nd_add = tensor_scatter_add
tensor_scatter_nd_sub = tensor_scatter_sub
tensor_scatter_nd_update = tensor_scatter_update

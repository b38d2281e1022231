"""tensordot, norm, matrix_rank and pinv: products over given axes, sizes and ranks of matrices, pseudo-inverses."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.composites.functional import map_fn
from stillflow.composites.rank_checks import assert_rank_at_least
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.names.arguments import renamed
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.convert import convert_to_tensor

# ---- tensordot ------------------------------------------------------------------------------------------------


@public("tensordot", "linalg.tensordot")
def tensordot(a, b, axes, name=None):
    """The sums of products of a's and b's elements over `axes`.

    Args:
      axes: how many of the last axes of a and the first of b are summed over; or a pair of axes or of lists of
        axes; or a tensor of shape [2, k].

    Raises:
      ValueError: for axes of another form, or more of them than there are.
    """
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        a_axes, b_axes = _summed_axes(a, axes)
        rows, a_free, a_known = _as_matrix(a, a_axes, sums_first=False)
        columns, b_free, b_known = _as_matrix(b, b_axes, sums_first=True)
        product = ops.matmul(rows, columns)
        if isinstance(a_free, list) and isinstance(b_free, list):
            return ops.reshape(product, a_free + b_free, name=scope)
        a_free, b_free = convert_to_tensor(a_free, dtypes.int32), convert_to_tensor(b_free, dtypes.int32)
        result = ops.reshape(product, ops.concat([a_free, b_free], 0), name=scope)
        if a_known is not None and b_known is not None:
            result.set_shape(a_known + b_known)
        return result


def _summed_axes(a, axes):
    """The axes of a and those of b."""
    if isinstance(axes, (int, np.integer)):
        axes = int(axes)
        if axes < 0:
            raise ValueError("'axes' must be at least 0.")
        if a._dims is None:
            rank = ops.rank(a)
            return ops.range(rank - axes, rank, dtype=dtypes.int32), ops.range(axes, dtype=dtypes.int32)
        rank = len(a._dims)
        if axes > rank:
            raise ValueError(f"'axes' must not be larger than the number of dimensions of tensor {a}.")
        return list(range(rank - axes, rank)), list(range(axes))
    if not isinstance(axes, (list, tuple)):
        axes = convert_to_tensor(axes, dtypes.int32, name="axes")
        return axes[0], axes[1]
    if len(axes) != 2:
        raise ValueError("'axes' must be an integer or have length 2.")
    a_axes, b_axes = axes
    if isinstance(a_axes, (int, np.integer)) and isinstance(b_axes, (int, np.integer)):
        a_axes, b_axes = [a_axes], [b_axes]
    if len(a_axes) != len(b_axes):
        raise ValueError(f"Different number of contraction axes 'a' and 'b', {len(a_axes)} != {len(b_axes)}.")
    return a_axes, b_axes


def _as_matrix(tensor, axes, sums_first):
    """A matrix with the summed axes in one dimension; the sizes of the other axes, and what is known of them."""
    if tensor._dims is None or not isinstance(axes, (list, tuple)):
        return _as_matrix_of_unknown_axes(tensor, axes, sums_first)
    dims, rank = tensor._dims, len(tensor._dims)
    axes = [axis + rank if axis < 0 else axis for axis in axes]
    free = [i for i in range(rank) if i not in axes]
    known = [dims[i] for i in free]
    if None in dims:
        axes = convert_to_tensor(axes, dtypes.int32, name="axes")
        free = convert_to_tensor(free, dtypes.int32, name="free")
        matrix, sizes = _reshaped(tensor, ops.shape(tensor), axes, free, sums_first)
        return matrix, sizes, known
    counts = [int(np.prod([dims[i] for i in part])) for part in (free, axes)]
    order = axes + free if sums_first else free + axes
    shape = counts[::-1] if sums_first else counts
    return ops.reshape(ops.transpose(tensor, order), shape), known, known


def _as_matrix_of_unknown_axes(tensor, axes, sums_first):
    shape = ops.shape(tensor)
    rank = ops.rank(tensor)
    axes = convert_to_tensor(axes, dtypes.int32, name="axes")
    axes = ops.where(axes >= 0, axes, axes + rank)
    free, _ = ops.setdiff1d(ops.range(rank), axes)
    matrix, sizes = _reshaped(tensor, shape, axes, free, sums_first)
    return matrix, sizes, None


def _reshaped(tensor, shape, axes, free, sums_first):
    free_sizes, summed_sizes = ops.gather(shape, free), ops.gather(shape, axes)
    counts = [ops.reduce_prod(free_sizes), ops.reduce_prod(summed_sizes)]
    order = ops.concat([axes, free] if sums_first else [free, axes], 0)
    matrix_shape = ops.stack(counts[::-1] if sums_first else counts)
    return ops.reshape(ops.transpose(tensor, order), matrix_shape), free_sizes


# ---- norm -----------------------------------------------------------------------------------------------------


@public("norm", "linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):
    """The norm of vectors along `axis`, of matrices for a pair of axes, or of everything.

    `ord` is "euclidean", 1, inf, any positive number for vectors, or "fro" for matrices.
    """
    keepdims = renamed("keepdims", keepdims, "keep_dims", keep_dims)
    keepdims = bool(keepdims)
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if is_matrix:
        axis = tuple(axis)
        if not all(isinstance(item, (int, np.integer)) for item in axis) or axis[0] == axis[1]:
            raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm in ['euclidean', 'fro', 1, 2, inf], got {ord}")
    else:
        if not (isinstance(axis, (int, np.integer)) or axis is None):
            raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
        if ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
        axis = None if axis is None else (axis,)
    with name_scope(name, "norm", [tensor]):
        tensor = convert_to_tensor(tensor)
        result = _matrix_or_vector_norm(tensor, ord, axis, is_matrix)
        return result if keepdims else ops.squeeze(result, axis)


def _matrix_or_vector_norm(tensor, ord, axis, is_matrix):
    if is_matrix and ord == 2:
        return _largest_singular_value(tensor, axis)
    if ord in ("fro", "euclidean", 2):
        return ops.sqrt(ops.reduce_sum(tensor * ops.conj(tensor), axis, keepdims=True))
    size = ops.abs(tensor)
    if ord == 1:
        result = ops.reduce_sum(size, None if axis is None else axis[0], keepdims=True)
        return ops.reduce_max(result, axis[-1], keepdims=True) if is_matrix else result
    if ord == np.inf:
        if is_matrix:
            size = ops.reduce_sum(size, axis[1], keepdims=True)
        return ops.reduce_max(size, None if axis is None else axis[0], keepdims=True)
    return ops.pow(ops.reduce_sum(ops.pow(size, ord), axis, keepdims=True), 1.0 / ord)


def _largest_singular_value(tensor, axis):
    """That of the matrices along a pair of axes, which are left with one element."""
    rank = ops.rank(tensor)
    axis = map_fn(lambda i: cond(i >= 0, lambda: i, lambda: i + rank), convert_to_tensor(axis))
    axes = ops.range(rank)
    order = ops.concat([ops.setdiff1d(axes, axis)[0], axis], 0)
    back = map_fn(lambda i: ops.cast(ops.squeeze(ops.where_v2(ops.equal(order, i))), dtypes.int32), axes)
    values = ops.svd_op(ops.transpose(tensor, order), compute_uv=False)[0]
    largest = ops.reduce_max(ops.abs(values), -1, keepdims=True)
    return ops.transpose(ops.expand_dims(largest, -1), back)


# ---- Ranks and pseudo-inverses --------------------------------------------------------------------------------


def _matrix(a, validate_args):
    """The tensor, which must be of matrices of floats."""
    if not a.dtype.is_floating:
        raise TypeError(f"Input `a` must have `float`-like `dtype` (saw {a.dtype.name}).")
    if a.shape.rank is None:
        if not validate_args:
            return a
        check = assert_rank_at_least(a, 2, message="Input `a` must have at least 2 dimensions.")
        with get_default_graph().control_dependencies([check]):
            return ops.identity(a)
    if a.shape.rank < 2:
        raise ValueError(f"Input `a` must have at least 2 dimensions (saw: {a.shape.rank}).")
    return a


@public("linalg.matrix_rank")
def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values of each matrix [..., m, n] are above `tol`, by default about rounding errors.

    Raises TypeError for integers, ValueError for fewer than two dimensions.
    """
    with name_scope(name or "matrix_rank"):
        a = _matrix(convert_to_tensor(a, dtype_hint=dtypes.float32, name="a"), validate_args)
        values = ops.svd(a, compute_uv=False)
        if tol is None:
            if a.shape[-2:].is_fully_defined():
                size = np.max(a.shape[-2:].as_list())
            else:
                size = ops.reduce_max(ops.shape(a)[-2:])
            epsilon = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = epsilon * ops.cast(size, a.dtype) * ops.reduce_max(values, axis=-1, keepdims=True)
        return ops.reduce_sum(ops.cast(values > tol, dtypes.int32), axis=-1)


@public("linalg.pinv")
def pinv(a, rcond=None, validate_args=False, name=None):
    """The pseudo-inverse [..., n, m] of each matrix [..., m, n].

    Singular values below `rcond` times the largest count as zero. Raises TypeError for integers, ValueError for
    fewer than two dimensions.
    """
    with name_scope(name or "pinv"):
        a = _matrix(convert_to_tensor(a, name="a"), validate_args)
        dtype = a.dtype.as_numpy_dtype
        if rcond is None:
            rows, columns = (
                ops.shape(a)[axis] if a.shape.rank is None or a._dims[axis] is None else a._dims[axis]
                for axis in (-2, -1)
            )
            if isinstance(rows, int) and isinstance(columns, int):
                size = float(max(rows, columns))
            else:
                size = ops.cast(ops.maximum(rows, columns), a.dtype)
            rcond = 10.0 * size * np.finfo(dtype).eps
        rcond = convert_to_tensor(rcond, dtype=a.dtype, name="rcond")
        s, u, v = ops.svd(a)
        least = rcond * ops.reduce_max(s, axis=-1)
        s = ops.where_v2(s > ops.expand_dims(least, -1), s, np.array(np.inf, dtype))
        result = ops.matmul(v / ops.expand_dims(s, -2), u, adjoint_b=True)
        if a.shape.rank is not None:
            result.set_shape(a.shape[:-2].concatenate([a.shape[-1], a.shape[-2]]))
        return result


@public("linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):
    """(tensor / its norm, the norm), where the norm keeps its dimensions; see `norm`."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = ops.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size

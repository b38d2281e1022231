"""Gather, GatherV2 and GatherNd: parts of an array picked by index."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices, converting_quietly
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import ShapeError, constant_value, dims_text
from stillflow.names import public
from stillflow.ops import dims as plain
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op

gather_op = define_op(
    "Gather(params: Tparams, indices: Tindices) -> (output: Tparams)",
    "validate_indices: bool = true; Tparams: type; Tindices: {int32, int64}",
    kernel="gather(params, indices | 0)",
)
gather_v2 = define_op(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> (output: Tparams)",
    "batch_dims: int = 0; Tparams: type; Tindices: {int32, int64}; Taxis: {int32, int64}",
    kernel="gather_v2(params, indices, axis | batch_dims)",
)
gather_nd_op = define_op(
    "GatherNd(params: Tparams, indices: Tindices) -> (output: Tparams)",
    "Tparams: type; Tindices: {int32, int64}",
    kernel="gather_nd(params, indices)",
)


@gather_op.shape_rule
def _(context):
    params, indices = context.shapes
    params = plain.with_rank_at_least(params, 1)
    return plain.joined(indices, None if params is None else params[1:])


@gather_v2.shape_rule
def _(context):
    params, indices, axis_shape = context.shapes
    params = plain.with_rank_at_least(params, 1)
    plain.with_rank(axis_shape, 0)
    axis = context.value(2)
    if axis is None:
        is_known = params is not None and indices is not None
        return (None,) * (len(params) + len(indices) - 1) if is_known else None
    axis, batch_dims = int(axis), context.attrs["batch_dims"]
    plain.with_rank_at_least(params, axis + 1 if axis >= 0 else -axis)
    plain.with_rank_at_least(indices, abs(batch_dims))
    if params is None or indices is None:
        return None
    batch_dims = batch_dims + len(indices) if batch_dims < 0 else batch_dims
    plain.with_rank_at_least(params, batch_dims + 1)
    axis %= len(params)
    return (*params[:axis], *indices[batch_dims:], *params[axis + 1 :])


@gather_op.folded_value
def _(context):
    return _taken(context.value(0), context.value(1), 0)


@gather_v2.folded_value
def _(context):
    axis = context.value(2)
    return (
        None if axis is None or context.attrs["batch_dims"] else _taken(context.value(0), context.value(1), int(axis))
    )


def _taken(params, indices, axis):
    if params is None or indices is None or np.any(indices < 0):
        return None
    return np.asarray(params.take(indices, axis))


@gather_nd_op.shape_rule
def _(context):
    params, indices = context.shapes
    indices = plain.with_rank_at_least(indices, 1)
    if params is None or indices is None or indices[-1] is None:
        return None
    if indices[-1] > len(params):
        raise ShapeError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {dims_text(indices)} and params "
            f"shape: {dims_text(params)}"
        )
    return (*indices[:-1], *params[indices[-1] :])


# ---- Functions ----------------------------------------------------------------------------------------------


@public("gather")
@dispatched
def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """The parts of `params` at `indices` along `axis`.

    Args:
      params: a tensor.
      indices: an integer tensor of any shape; it takes the place of the axis in the result's shape.
      axis: an integer scalar, by default `batch_dims`.
      batch_dims: how many leading dimensions of both are the same, with a choice of its own for each.
    """
    if axis is None:
        axis = batch_dims
    static_axis = constant_value(axis) if isinstance(axis, Tensor) else axis
    if static_axis != 0:
        return gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)
    try:
        return params.sparse_read(indices, name=name)
    except AttributeError:
        return gather_v2(params, indices, axis, name=name)


@public("gather_nd", "manip.gather_nd")
@dispatched
def gather_nd(params, indices, name=None, batch_dims=0):
    """The parts of `params` at the index tuples that the last dimension of `indices` holds.

    `batch_dims` leading dimensions of both are the same, with a choice of its own for each. Raises ValueError if
    they are more than there are.
    """
    if isinstance(batch_dims, Tensor):
        value = constant_value(batch_dims)
        batch_dims = batch_dims if value is None else value.item()
    if not isinstance(batch_dims, int) or batch_dims != 0:
        return batch_gather_nd(params, indices, batch_dims, name)
    try:
        return params.gather_nd(indices, name=name)
    except AttributeError:
        return gather_nd_op(params, indices, name=name)


@public("python.ops.array_ops.batch_gather_nd")
def batch_gather_nd(params, indices, batch_dims, name=None):
    """gather_nd within each of the leading dimensions: their positions are put before the index tuples."""
    with name_scope(name, "BatchGatherND", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        _check_batch_dims(params, indices, batch_dims)
        if batch_dims == 0:
            return gather_nd_op(params, indices)
        params_shape, indices_shape = ops.shape(params), ops.shape(indices)
        batch_shape = params_shape[:batch_dims]
        batch_size = ops.reduce_prod(batch_shape, [0])
        index_rank = ops.rank(indices) - batch_dims - 1
        index_shape = indices_shape[batch_dims:-1]
        ranges = [ops.cast_op(ops.range_op(0, size, 1), DstT=indices.dtype) for size in ops.unstack(batch_shape)]
        grid = [ops.reshape(part, (-1,)) for part in ops.meshgrid(*ranges, indexing="ij")]
        grid = ops.transpose(ops.stack(grid, axis=0))
        grid_shape = ops.shape(grid)
        spread_shape = [grid_shape[:1], ops.ones(index_rank, dtypes.int32), grid_shape[1:]]
        grid = ops.reshape(grid, ops.concat(spread_shape, axis=0))
        grid = ops.tile(grid, ops.concat(((1,), index_shape, (1,)), axis=0))
        flat_indices = ops.reshape(indices, ops.concat(([batch_size], indices_shape[batch_dims:]), axis=0))
        result = gather_nd_op(params, ops.concat((grid, flat_indices), axis=-1))
        return ops.reshape(result, ops.concat((batch_shape, ops.shape(result)[1:]), axis=0))


def _check_batch_dims(params, indices, batch_dims):
    if not isinstance(batch_dims, int):
        raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
    if batch_dims < 0:
        raise ValueError("tf.gather_nd does not allow negative batch_dims.")
    for name, tensor in (("indices", indices), ("params", params)):
        if tensor._dims is not None and batch_dims >= len(tensor._dims):
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank({name}) = {len(tensor._dims)}")


@public("batch_gather")
@dispatched
def batch_gather(params, indices, name=None):
    """gather along the last dimension of `indices`, within each of the ones before. Raises ValueError if its rank is
    unknown.
    """
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices._dims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return _batch_gather(params, indices, len(indices._dims) - 1)


def _batch_gather(params, indices, batch_dims):
    """Picks from `params` with the batch dimensions made one with the axis."""
    rank = len(indices._dims)
    if batch_dims < 0:
        raise ValueError(f"batch_dims = {batch_dims} must be less than rank(indices) = {rank}")
    if params._dims is not None and batch_dims >= len(params._dims):
        raise ValueError(f"batch_dims = {batch_dims} must be less than rank(params) = {len(params._dims)}")
    indices_shape, params_shape = ops.shape(indices), ops.shape(params)
    one = ops.ones((), indices.dtype.base_dtype)
    sizes = ops.cast_op(params_shape, DstT=indices.dtype.base_dtype)
    flat = _with_batch_offsets(sizes, indices, batch_dims, one, ops.range_op)
    flat = ops.reshape(flat, [-1])
    outer_shape = params_shape[batch_dims + 1 :]
    rows = ops.reduce_prod(params_shape[: batch_dims + 1], [0])
    flat_params = ops.reshape(params, ops.concat([[rows], outer_shape], axis=0))
    result = ops.reshape(gather(flat_params, flat), ops.concat([indices_shape, outer_shape], axis=0))
    batch_shape = indices.shape[:batch_dims].merge_with(params.shape[:batch_dims])
    result.set_shape(batch_shape.concatenate(indices.shape[batch_dims:]).concatenate(params.shape[batch_dims + 1 :]))
    return result


def _with_batch_offsets(sizes, indices, batch_dims, step, range_function):
    """Indices into a whole whose batch dimensions are one with the axis: those into each batch, moved there."""
    dtype = indices.dtype.base_dtype
    rank = len(indices._dims)
    for dim in range(batch_dims, 0, -1):
        size = sizes[dim - 1]
        step *= sizes[dim]
        offsets = range_function(ops.zeros((), dtype), size, ops.ones((), dtype))
        offsets *= step
        shape = ops.stack([1] * (dim - 1) + [size] + [1] * (rank - dim), axis=0)
        indices += ops.reshape(offsets, shape)
    return indices


# ---- Gradients ----------------------------------------------------------------------------------------------


def _params_shape(params):
    with get_default_graph().colocate_with(params):
        return ops.cast(ops.shape(params, out_type=dtypes.int64), dtypes.int32)


@gather_op.gradient
def _(op, grad):
    params, indices = op._inputs
    shape = _params_shape(params)
    count = ops.expand_dims(ops.size(indices), 0)
    values_shape = ops.concat([count, shape[1:]], 0)
    return _rows(grad, values_shape, indices, count, shape), None


@gather_v2.gradient
def _(op, grad):
    """Rows, as IndexedSlices, for axis 0; a dense tensor otherwise."""
    params, indices, axis = op._inputs
    shape = _params_shape(params)
    count = ops.expand_dims(ops.size(indices), 0)
    batch_dims = op._attrs["batch_dims"]
    if batch_dims < 0:
        batch_dims += len(indices._dims)
    if constant_value(axis) == 0:
        values_shape = ops.concat([count, shape[1:]], 0)
        return _rows(grad, values_shape, indices, count, shape), None, None
    return _dense_gradient(grad, indices, axis, batch_dims, shape), None, None


def _rows(grad, values_shape, indices, count, shape):
    with converting_quietly():
        values = ops.reshape(grad, values_shape)
    return IndexedSlices(values, ops.reshape(indices, count), shape)


def _dense_gradient(grad, indices, axis, batch_dims, shape):
    outer_shape = shape[:axis]
    inner_shape = shape[axis:][1:]
    values_shape = ops.concat([outer_shape, [-1], inner_shape], 0)
    values_rank = ops.size(values_shape)
    axis_dims = ops.size(outer_shape)
    batches = ops.range(batch_dims)
    outer = ops.range(batch_dims, axis_dims)
    inner = ops.range(axis_dims + 1, values_rank)
    with converting_quietly():
        values = ops.reshape(grad, values_shape)
    # The axis goes to the front of what is not a batch, where segments can be summed, and back.
    values = ops.transpose(values, ops.concat([batches, [axis_dims], outer, inner], 0))
    result = _batch_gather_gradient(shape, values, indices, batch_dims, shape[axis])
    back = ops.concat([batches, outer + 1, [batch_dims], inner], 0)
    return ops.transpose(result, back)


def _batch_gather_gradient(shape, values, indices, batch_dims, size):
    count = ops.expand_dims(ops.size(indices), 0)
    if batch_dims:
        values_shape = ops.shape(values)
        outer_shape = values_shape[:batch_dims]
        inner_shape = values_shape[batch_dims:][1:]
        batch_size = ops.reduce_prod(outer_shape, [0])
        flat_shape = ops.concat([[-1], inner_shape], 0)
        size *= batch_size
        sizes = ops.cast(shape, indices.dtype.base_dtype)
        one = ops.ones((), indices.dtype.base_dtype)
        indices = _with_batch_offsets(sizes, indices, batch_dims, one, ops.range)
        with converting_quietly():
            values = ops.reshape(values, flat_shape)
    result = ops.unsorted_segment_sum(values, ops.reshape(indices, count), size)
    if batch_dims:
        result = ops.reshape(result, ops.concat([outer_shape, flat_shape], 0))
    return result


@gather_nd_op.gradient
def _(op, grad):
    params, indices = op._inputs
    shape = ops.shape(params, out_type=indices.dtype)
    if indices._dims is not None and len(indices._dims) == 2 and indices._dims[-1] == 1:
        return IndexedSlices(grad, ops.squeeze(indices, axis=-1), shape), None
    return ops.scatter_nd(indices, grad, shape), None

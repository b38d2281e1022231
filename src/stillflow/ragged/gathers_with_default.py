"""batch_gather_with_default: indices that name no value get one of their own."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites import checks
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ragged.arrays import expand_dims
from stillflow.ragged.concatenation import concat
from stillflow.ragged.gathers import batch_gather
from stillflow.ragged.masks import where
from stillflow.ragged.shapes import RaggedTensorDynamicShape, broadcast_to
from stillflow.ragged.tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, match_row_splits_dtypes


@public("python.ops.ragged.ragged_batch_gather_with_default_op.batch_gather_with_default")
def batch_gather_with_default(params, indices, default_value="", name=None):
    """As batch_gather; `default_value`, a scalar or vector, is what indices outside of a row pick.

    Raises ValueError for a default value of another rank, and where ranks are not known.
    """
    with name_scope(name, "RaggedBatchGatherWithDefault"):
        params = convert_to_tensor_or_ragged_tensor(params, name="params")
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        default_value = convert_to_tensor_or_ragged_tensor(default_value, name="default_value")
        params, indices, default_value = match_row_splits_dtypes(params, indices, default_value)
        if default_value.shape.ndims not in (0, 1):
            raise ValueError('"default_value" must be a scalar or vector')
        if indices.shape.ndims is None:
            raise ValueError("Indices must have a known rank.")
        if params.shape.ndims is None:
            raise ValueError("Params must have a known rank.")
        axis = indices.shape.ndims - 1
        # The default comes first in each row, so that all other indices move by one.
        with get_default_graph().control_dependencies([checks.assert_greater_equal(_rank(params), _rank(indices))]):
            if isinstance(params, RaggedTensor):
                lengths = params.row_lengths(axis=axis) if axis else params.nrows()
                bounds = ops.cast(expand_dims(lengths, axis=-1) if axis else lengths, indices.dtype)
                first = broadcast_to(default_value, _shape_of_defaults(params, indices, axis))
            else:
                shape = ops.shape(params)
                bounds = ops.cast(shape[axis], indices.dtype)
                first = ops.broadcast_to(default_value, ops.concat([shape[:axis], [1], shape[axis + 1 :]], 0))
            padded = concat([ops.cast(first, params.dtype), params], axis=axis)
            is_outside = (indices < 0) | (indices >= bounds)
            return batch_gather(padded, where(is_outside, ops.zeros_like(indices), indices + 1), name=name)


def _rank(tensor):
    return ops.constant(tensor.shape.ndims)


def _shape_of_defaults(params, indices, axis):
    """The shape of one default for each row."""
    shape = RaggedTensorDynamicShape.from_tensor(params, dim_size_dtype=params.row_splits.dtype)
    sizes = shape.partitioned_dim_sizes
    if params.shape.ndims == indices.shape.ndims:
        if shape.num_inner_dimensions == 0:
            return RaggedTensorDynamicShape((*sizes[:-1], ops.ones_like(sizes[-1])), [])
        return RaggedTensorDynamicShape(sizes, ops.concat([shape.inner_dim_sizes[:-1], [1]], axis=0))
    if axis == 0:
        one = ops.constant(1, dtype=params.row_splits.dtype)
        sizes = (one, *[ops.expand_dims(one, 0)] * (shape.num_partitioned_dimensions - 1))
    else:
        count = shape.num_partitioned_dimensions - axis
        sizes = (*sizes[:axis], *[ops.ones_like(sizes[axis])] * count)
    return RaggedTensorDynamicShape(sizes, shape.inner_dim_sizes)

"""Where, and boolean_mask over it: the places of what is true."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape_inference import constant_value
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

where_op = define_op(
    "Where(input: T) -> (index: int64)",
    "T: {float32, float64, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, uint16, "
    "complex128, float16, uint32, uint64, bool} = bool",
    kernel="where(input)",
    differentiable=None,
)


@where_op.shape_rule
def _(context):
    dims = context.shapes[0]
    return (None, None if dims is None else len(dims))


@public("boolean_mask")
def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The parts of `tensor` along the dimensions of `mask`, from `axis` on, where it is true.

    Raises ValueError for a mask of unknown or zero rank, or one that does not fit.
    """
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        rank = None if mask._dims is None else len(mask._dims)
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if rank is None:
            raise ValueError(
                "Number of mask dimensions must be specified, even if some dimensions are None.  E.g. shape=[None] "
                "is ok, but shape=None is not."
            )
        axis = 0 if axis is None else axis
        if isinstance(axis, Tensor):
            axis = constant_value(axis)
        tensor.shape[axis : axis + rank].assert_is_compatible_with(mask.shape)
        count = ops.reduce_prod(ops.shape(tensor)[axis : axis + rank], [0])
        shape = ops.concat([ops.shape(tensor)[:axis], [count], ops.shape(tensor)[axis + rank :]], 0)
        rows = ops.reshape(tensor, shape)
        known = tensor.shape[axis : axis + rank].num_elements()
        if tensor._dims is not None:
            rows.set_shape((*tensor._dims[:axis], known, *tensor._dims[axis + rank :]))
        places = ops.squeeze(where_op(ops.reshape(mask, [-1])), axis=[1])
        return ops.gather(rows, places, axis=axis)

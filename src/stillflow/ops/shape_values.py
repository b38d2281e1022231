"""What is known of tensors, and of those that are shapes, while the graph is built."""

from __future__ import annotations

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph import dtypes, shape_inference
from stillflow.graph.inner_functions import is_dense_tensor_like
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import Dimension, TensorShape, unknown_shape
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor, widened


@public("python.framework.tensor_util.constant_value_as_shape")
def constant_value_as_shape(tensor):
    """The TensorShape that a vector of sizes spells, with None for what is not known while the graph is built.

    Raises:
      ValueError: for a scalar other than a known -1, which spells an unknown shape, and for higher ranks.
    """
    if tensor.shape.ndims == 0:
        value = shape_inference.constant_value(tensor)
        if value is None or value != -1:
            what = "scalar with unknown value" if value is None else f"scalar value '{value}'"
            raise ValueError(
                f"Received a {what} as shape; require a statically known scalar with value '-1' to describe an "
                "unknown shape."
            )
        return unknown_shape()
    size = tensor.shape.with_rank(1).dims[0].value
    dims = shape_inference.value_as_dims(shape_inference.partial_constant(tensor))
    if dims is not None:
        return TensorShape(dims)
    return _from_parts(tensor) or unknown_shape(size)


def _from_parts(tensor):
    """What is known of a vector whose parts are not all known; None if that is nothing."""
    op = tensor._op
    if op is None or op.type not in ("Concat", "ConcatV2"):
        return None
    found = TensorShape([])
    for part in op.inputs[1:] if op.type == "Concat" else op.inputs[:-1]:
        found = found.concatenate(constant_value_as_shape(part))
    return found


@public("python.framework.tensor_util.shape_tensor")
def shape_tensor(shape):
    """A tensor of sizes; of int32 if there are none."""
    dtype = None
    if isinstance(shape, (tuple, list)):
        dtype = None if shape else dtypes.int32
        shape = tuple(size.value if isinstance(size, Dimension) else size for size in shape)
    return convert_to_tensor(widened(shape), dtype=dtype, name="shape")


@public("python.framework.tensor_util.ShapeEquals")
def shape_equals(tensor_proto, shape):
    """Whether a TensorProto message has a shape, which is a list, tuple or TensorShapeProto.

    Raises TypeError for anything else.
    """
    if not isinstance(tensor_proto, protobuf.message("TensorProto")):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if isinstance(shape, protobuf.message("TensorShapeProto")):
        shape = [dim.size for dim in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return all(x == y for x, y in zip((dim.size for dim in tensor_proto.tensor_shape.dim), shape, strict=False))


@public("contrib.util.constant_value", "python.framework.tensor_util.constant_value")
@public("get_static_value")
def get_static_value(tensor, partial=False):
    """The tensor's value as a numpy array if it is known while the graph is built, else None.

    `partial`: whether of values that are stacked those that are not known may be None. What is no tensor is its own
    value.
    """
    if not isinstance(tensor, Tensor):
        return None if is_dense_tensor_like(tensor) else tensor
    value = shape_inference.constant_value(tensor)
    if value is None and partial and tensor.op.type == "Pack":
        return np.array([get_static_value(part, partial=True) for part in tensor.op.inputs], object)
    return value

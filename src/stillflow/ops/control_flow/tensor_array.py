"""The ops of TensorArrays: lists of tensors that a run writes and reads, one element or all of them at a time."""

from __future__ import annotations

from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.ops import dims as plain
from stillflow.ops.registry import define_op

tensor_array_v3 = define_op(
    "TensorArrayV3(size: int32) -> (handle: resource, flow: float32)",
    "dtype: type; element_shape: shape = unknown; dynamic_size: bool = false; clear_after_read: bool = true; "
    "identical_element_shapes: bool = false; tensor_array_name: string = ''",
    kernel="tensor_array(size | dtype, element_shape, dynamic_size, clear_after_read, identical_element_shapes, "
    "tensor_array_name)",
    stateful=True,
    differentiable=False,
)
tensor_array_grad_v3 = define_op(
    "TensorArrayGradV3(handle: resource, flow_in: float32) -> (grad_handle: resource, flow_out: float32)",
    "source: string",
    kernel="tensor_array_grad(handle, flow_in | source)",
    stateful=True,
    differentiable=False,
)
tensor_array_write_v3 = define_op(
    "TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_write(handle, index, value, flow_in)",
    stateful=True,
)
tensor_array_read_v3 = define_op(
    "TensorArrayReadV3(handle: resource, index: int32, flow_in: float32) -> (value: dtype)",
    "dtype: type",
    kernel="tensor_array_read(handle, index | dtype)",
    stateful=True,
)
tensor_array_gather_v3 = define_op(
    "TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float32) -> (value: dtype)",
    "dtype: type; element_shape: shape = unknown",
    kernel="tensor_array_gather(handle, indices | dtype, element_shape)",
    stateful=True,
)
tensor_array_scatter_v3 = define_op(
    "TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_scatter(handle, indices, value, flow_in)",
    stateful=True,
)
tensor_array_concat_v3 = define_op(
    "TensorArrayConcatV3(handle: resource, flow_in: float32) -> (value: dtype, lengths: int64)",
    "dtype: type; element_shape_except0: shape = unknown",
    kernel="tensor_array_concat(handle | dtype, element_shape_except0)",
    stateful=True,
)
tensor_array_split_v3 = define_op(
    "TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float32) -> (flow_out: float32)",
    "T: type",
    kernel="tensor_array_split(handle, value, lengths, flow_in)",
    stateful=True,
)
tensor_array_size_v3 = define_op(
    "TensorArraySizeV3(handle: resource, flow_in: float32) -> (size: int32)",
    kernel="tensor_array_size(handle)",
    stateful=True,
    differentiable=False,
)
tensor_array_close_v3 = define_op(
    "TensorArrayCloseV3(handle: resource) -> ()",
    kernel="tensor_array_close(handle)",
    stateful=True,
    differentiable=False,
)


# ---- Shapes -------------------------------------------------------------------------------------------------


@tensor_array_v3.shape_rule
@tensor_array_grad_v3.shape_rule
def _(context):
    return [(2,), ()]


def _element(context):
    """What the array says of its elements' shape; False if it says nothing."""
    attrs = context.handle_attrs(0)
    shape = attrs.get("element_shape")
    if shape is None or not (attrs.get("identical_element_shapes") or shape.is_fully_defined()):
        return False
    return shape._dims


def _checked(found, wanted):
    if wanted is not False and merge(found, wanted) is False:
        raise ShapeError(incompatible(wanted, found))


@tensor_array_write_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    _checked(context.shapes[2], _element(context))
    return ()


@tensor_array_read_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 0)
    return _element(context) or (() if _element(context) == () else None)


@tensor_array_gather_v3.shape_rule
def _(context):
    indices, element = plain.with_rank(context.shapes[1], 1), _element(context)
    return plain.joined(indices, context.attrs["element_shape"]._dims if element is False else element)


@tensor_array_scatter_v3.shape_rule
def _(context):
    plain.with_rank(context.shapes[1], 1)
    value = plain.with_rank_at_least(context.shapes[2], 1)
    _checked(None if value is None else value[1:], _element(context))
    return ()


@tensor_array_concat_v3.shape_rule
def _(context):
    return [None, (None,)]


@tensor_array_split_v3.shape_rule
@tensor_array_size_v3.shape_rule
def _(context):
    return ()


# ---- Gradients ----------------------------------------------------------------------------------------------


def _gradient_array(op, flow, dtype, where):
    """The array of gradients that belongs to an op's array, for the call of tf.gradients that `where` is made by."""
    from stillflow.composites.tensor_array import TensorArray

    array = TensorArray(dtype, handle=op._inputs[0], flow=flow, colocate_with_first_write_call=False)
    return array.grad(_source(where), flow)


def _source(tensor):
    """The scope of the call of tf.gradients."""
    parts = tensor.name.split("/")
    places = [i for i, part in enumerate(parts) if part.startswith("gradients")]
    if not places:
        raise ValueError(
            f"Expected op/tensor name to start with gradients (excluding scope), got: {tensor.name}. Calls to "
            "tf.gradients through a TensorArray must have names that start with 'gradients'."
        )
    return "/".join(parts[: places[-1] + 1])


@tensor_array_read_v3.gradient
def _(op, grad):
    _, index, flow = op._inputs
    return None, None, _gradient_array(op, flow, op._attrs["dtype"], grad).write(index, grad).flow


@tensor_array_write_v3.gradient
def _(op, flow):
    return None, None, _gradient_array(op, flow, op._attrs["T"], flow).read(op._inputs[1]), flow


@tensor_array_gather_v3.gradient
def _(op, grad):
    _, indices, flow = op._inputs
    return None, None, _gradient_array(op, flow, op._attrs["dtype"], grad).scatter(indices, grad).flow


@tensor_array_scatter_v3.gradient
def _(op, flow):
    return None, None, _gradient_array(op, flow, op._attrs["T"], flow).gather(op._inputs[1]), flow


@tensor_array_concat_v3.gradient
def _(op, grad, _):
    array = _gradient_array(op, op._inputs[1], op._attrs["dtype"], grad)
    return None, array.split(grad, lengths=op._outputs[1]).flow


@tensor_array_split_v3.gradient
def _(op, flow):
    return None, _gradient_array(op, flow, op._attrs["T"], flow).concat(), None, flow

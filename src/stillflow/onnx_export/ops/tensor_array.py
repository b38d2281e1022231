"""TensorArrays and lists of tensors.

What is filled from one tensor stays one; what is empty at first becomes a sequence. What stands for an array is its
flow, the float that TensorFlow hands from one access to the next; a list is itself handed on.
"""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import NEEDS, Array, Call, converts, element_type


def _without_handle(translation, tensor):
    return list(tensor.op.inputs[1:])


for _type in ("Gather", "Read", "Scatter", "Size", "Write", "Concat", "Split"):
    NEEDS[f"TensorArray{_type}V3"] = _without_handle


def _empty(call, dtype):
    empty = call.add("SequenceEmpty", dtype=element_type(dtype))
    call.translation.arrays[empty] = Array(dtype, is_sequence=True)
    return empty


@converts("TensorArrayV3")
def tensor_array(call: Call):
    return ["", _empty(call, call.attr("dtype"))]


@converts("TensorListReserve", "EmptyTensorList")
def tensor_list(call):
    return _empty(call, call.attr("element_dtype"))


def _array(call, flow):
    return call.translation.array_of(flow)


@converts("TensorArrayScatterV3")
def scatter(call):
    return _of_elements(call, 1)


@converts("TensorListFromTensor")
def list_of_elements(call):
    return _of_elements(call, 0)


def _of_elements(call, index):
    """The array of all elements that an input has along its first axis."""
    offset = len(call.op.inputs) - len(call.inputs)
    array = call.add("Identity", call.inputs[index])
    call.translation.arrays[array] = Array(call.dtype(index + offset), is_sequence=False)
    return array


@converts("TensorArraySplitV3")
def split(call):
    value, lengths, _ = call.inputs
    array = call.add("SplitToSequence", value, lengths, axis=0)
    call.translation.arrays[array] = Array(call.op.inputs[1].dtype, is_sequence=True)
    return array


@converts("TensorArrayWriteV3")
def write(call):
    index, value, flow = call.inputs
    return _written(call, flow, value, index)


@converts("TensorListSetItem")
def set_item(call):
    flow, index, value = call.inputs
    return _written(call, flow, value, index)


@converts("TensorListPushBack")
def push_back(call):
    return _written(call, *call.inputs)


def _written(call, flow, value, *index):
    if _array(call, flow).is_sequence:
        array = call.add("SequenceInsert", flow, value, *index)
    elif index:
        place = call.add("Reshape", call.cast(index[0], np.int64), call.ints(1, 1))
        array = call.add("ScatterND", flow, place, call.add("Unsqueeze", value, call.ints(0)))
    else:
        array = call.add("Concat", flow, call.add("Unsqueeze", value, call.ints(0)), axis=0)
    call.translation.arrays[array] = _array(call, flow)
    return array


@converts("TensorArrayReadV3")
def read(call):
    index, flow = call.inputs
    return _element(call, flow, index)


@converts("TensorListGetItem")
def get_item(call):
    return _element(call, *call.inputs[:2])


def _element(call, flow, index):
    """An index behind the end is the last one: branches of conditions are computed where they are not taken, too."""
    if _array(call, flow).is_sequence:
        return call.add("SequenceAt", flow, index)
    last = call.add("Sub", call.add("Shape", flow, end=1), call.ints(1))
    index = call.add("Min", call.cast(index, np.int64), call.add("Squeeze", last))
    return call.add("Gather", flow, index, axis=0)


@converts("TensorListPopBack")
def pop_back(call):
    flow = call.inputs[0]
    if not _array(call, flow).is_sequence:
        raise call.error("takes from an array that was filled at once")
    rest = call.add("SequenceErase", flow)
    call.translation.arrays[rest] = _array(call, flow)
    return [rest, call.add("SequenceAt", flow, call.constant(-1, np.int64))]


def _stacked(call, flow):
    """All elements as one tensor."""
    return call.add("ConcatFromSequence", flow, axis=0, new_axis=1) if _array(call, flow).is_sequence else flow


@converts("TensorListStack")
def stack(call):
    return call.add("Identity", _stacked(call, call.inputs[0]))


@converts("TensorArrayGatherV3")
def gather(call):
    indices, flow = call.inputs
    return call.add("Gather", _stacked(call, flow), indices, axis=0)


@converts("TensorListGather")
def list_gather(call):
    flow, indices = call.inputs[:2]
    return call.add("Gather", _stacked(call, flow), indices, axis=0)


@converts("TensorArrayConcatV3")
def concat(call):
    (flow,) = call.inputs
    if not _array(call, flow).is_sequence:
        raise call.error("joins an array that was filled at once")
    return [call.add("ConcatFromSequence", flow, axis=0), None]


@converts("TensorArraySizeV3", "TensorListLength")
def size(call):
    (flow,) = call.inputs
    if _array(call, flow).is_sequence:
        return call.cast(call.add("SequenceLength", flow), np.int32)
    return call.cast(call.add("Gather", call.add("Shape", flow), call.constant(0, np.int64)), np.int32)

"""TensorArrays: those that are filled from one tensor stay one; those that are written to become sequences.

What stands for an array is its flow, the float that TensorFlow hands from one access to the next.
"""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import NEEDS, Array, Call, converts, element_type


def _without_handle(translation, tensor):
    return list(tensor.op.inputs[1:])


for _type in ("Gather", "Read", "Scatter", "Size", "Write", "Concat", "Split"):
    NEEDS[f"TensorArray{_type}V3"] = _without_handle


@converts("TensorArrayV3")
def tensor_array(call: Call):
    dtype = call.attr("dtype")
    empty = call.add("SequenceEmpty", dtype=element_type(dtype))
    call.translation.arrays[empty] = Array(dtype, is_sequence=True)
    return ["", empty]


def _array(call, flow):
    return call.translation.array_of(flow)


@converts("TensorArrayScatterV3")
def scatter(call):
    _, value, _ = call.inputs
    array = call.add("Identity", value)
    call.translation.arrays[array] = Array(call.op.inputs[2].dtype, is_sequence=False)
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
    if not _array(call, flow).is_sequence:
        raise call.error("writes to an array that was filled at once")
    array = call.add("SequenceInsert", flow, value, index)
    call.translation.arrays[array] = _array(call, flow)
    return array


@converts("TensorArrayReadV3")
def read(call):
    """An index behind the end is the last one: branches of conditions are computed where they are not taken, too."""
    index, flow = call.inputs
    if _array(call, flow).is_sequence:
        return call.add("SequenceAt", flow, index)
    last = call.add("Sub", call.add("Shape", flow, end=1), call.ints(1))
    index = call.add("Min", call.cast(index, np.int64), call.add("Squeeze", last))
    return call.add("Gather", flow, index, axis=0)


@converts("TensorArrayGatherV3")
def gather(call):
    indices, flow = call.inputs
    if _array(call, flow).is_sequence:
        flow = call.add("ConcatFromSequence", flow, axis=0, new_axis=1)
    return call.add("Gather", flow, indices, axis=0)


@converts("TensorArrayConcatV3")
def concat(call):
    (flow,) = call.inputs
    if not _array(call, flow).is_sequence:
        raise call.error("joins an array that was filled at once")
    return [call.add("ConcatFromSequence", flow, axis=0), None]


@converts("TensorArraySizeV3")
def size(call):
    (flow,) = call.inputs
    if _array(call, flow).is_sequence:
        return call.cast(call.add("SequenceLength", flow), np.int32)
    return call.cast(call.add("Gather", call.add("Shape", flow), call.constant(0, np.int64)), np.int32)

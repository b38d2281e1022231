"""Reductions, places of extrema, and softmax."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts

_REDUCTIONS = {"Sum": "ReduceSum", "Mean": "ReduceMean", "Max": "ReduceMax", "Min": "ReduceMin", "Prod": "ReduceProd"}
_REDUCTIONS |= {"EuclideanNorm": "ReduceL2"}


@converts(*_REDUCTIONS)
def reduce(call: Call):
    options = {"keepdims": int(call.attr("keep_dims")), "noop_with_empty_axes": 1}
    return call.add(_REDUCTIONS[call.op.type], call.inputs[0], call.numbers(1), **options)


@converts("All", "Any")
def all_or_any(call):
    numbers = call.cast(call.inputs[0], np.int32)
    op_type = "ReduceMin" if call.op.type == "All" else "ReduceMax"
    options = {"keepdims": int(call.attr("keep_dims")), "noop_with_empty_axes": 1}
    return call.cast(call.add(op_type, numbers, call.numbers(1), **options), np.bool_)


@converts("ArgMax", "ArgMin")
def arg_extremum(call):
    axis = int(call.known(1, "an axis"))
    return call.to_type_of(call.add(call.op.type, call.inputs[0], axis=axis, keepdims=0), call.op.outputs[0].dtype)


@converts("L2Loss")
def l2_loss(call):
    return call.add("Mul", call.add("ReduceSumSquare", call.inputs[0], keepdims=0), call.like(0.5))


@converts("Softmax", "LogSoftmax")
def softmax(call):
    return call.add(call.op.type, call.inputs[0], axis=-1)

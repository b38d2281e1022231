"""Cross entropies, and whether a class is among the likeliest."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import END, Call, converts


@converts("SoftmaxCrossEntropyWithLogits")
def cross_entropy(call: Call):
    logits, labels = call.inputs
    products = call.add("Mul", labels, call.add("LogSoftmax", logits, axis=-1))
    loss = call.add("Neg", call.add("ReduceSum", products, call.ints(-1), keepdims=0))
    return [loss, call.add("Sub", call.add("Softmax", logits, axis=-1), labels)]


@converts("SparseSoftmaxCrossEntropyWithLogits")
def sparse_cross_entropy(call):
    logits, last = call.inputs[0], call.ints(-1)
    labels = call.cast(call.inputs[1], np.int64)
    places = call.add("Unsqueeze", labels, last)
    picked = call.add("GatherElements", call.add("LogSoftmax", logits, axis=-1), places, axis=-1)
    depth = call.add("Slice", call.add("Shape", logits), last, call.ints(END))
    off_and_on = call.constant([0, 1], call.dtype().as_numpy_dtype)
    hot = call.add("OneHot", labels, depth, off_and_on, axis=-1)
    return [
        call.add("Neg", call.add("Squeeze", picked, last)),
        call.add("Sub", call.add("Softmax", logits, axis=-1), hot),
    ]


@converts("InTopK", "InTopKV2")
def in_top_k(call):
    """A class is among the k likeliest if fewer than k are likelier. No row with what is not finite has one."""
    scores, targets, last = call.inputs[0], call.inputs[1], call.ints(-1)
    count = (
        call.constant(call.attr("k"), np.int64) if call.op.type == "InTopK" else call.cast(call.inputs[2], np.int64)
    )
    targets = call.cast(targets, np.int64)
    classes = call.add("Squeeze", call.add("Slice", call.add("Shape", scores), last, call.ints(2)))
    zero = call.constant(0, np.int64)
    is_class = call.add("And", call.add("GreaterOrEqual", targets, zero), call.add("Less", targets, classes))
    places = call.add("Unsqueeze", call.add("Where", is_class, targets, zero), last)
    likelier = call.add("Greater", scores, call.add("GatherElements", scores, places, axis=-1))
    ahead = call.add("ReduceSum", call.cast(likelier, np.int64), last, keepdims=0)
    is_finite = call.add("Less", call.add("Abs", scores), call.like(np.inf))
    all_finite = call.add("ReduceMin", call.cast(is_finite, np.int32), last, keepdims=0)
    is_sound = call.add("And", is_class, call.cast(all_finite, np.bool_))
    return call.add("And", call.add("Less", ahead, count), is_sound)

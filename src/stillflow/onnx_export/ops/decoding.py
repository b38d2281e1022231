"""The best labels of a sequence of scores."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts


def _at(call, value, axis, number):
    return call.add("Gather", value, call.constant(number, np.int64), axis=axis)


@converts("CTCGreedyDecoder")
def ctc_greedy_decoder(call: Call):
    """The best class of each step, without blanks and, where these are merged, without repetitions."""
    scores, one = call.inputs[0], call.constant([1], np.int64)  # [time, batch, classes]
    sizes = call.add("Shape", scores)
    blank = call.add("Sub", _at(call, sizes, 0, 2), call.constant(1, np.int64))
    classes = call.add("Transpose", call.add("ArgMax", scores, axis=2, keepdims=0), perm=[1, 0])
    steps = call.add("Range", call.constant(0, np.int64), _at(call, sizes, 0, 0), call.constant(1, np.int64))
    lengths = call.add("Unsqueeze", call.cast(call.inputs[1], np.int64), one)
    is_step = call.add("Less", steps, lengths)  # [batch, time]
    is_kept = call.add("And", is_step, call.add("Not", call.add("Equal", classes, blank)))
    if call.attr("merge_repeated"):
        shifted = call.add("Pad", classes, call.constant([0, 1, 0, 0], np.int64), call.constant(-1, np.int64))
        before = call.add("Slice", shifted, *(call.constant([n], np.int64) for n in (0, -1, 1)))
        is_kept = call.add("And", is_kept, call.add("Not", call.add("Equal", classes, before)))
    kept = call.cast(is_kept, np.int64)
    places = call.add("Sub", call.add("CumSum", kept, call.constant(1, np.int64)), call.constant(1, np.int64))
    found = call.add("Transpose", call.add("NonZero", is_kept), perm=[1, 0])
    rows = call.add("Slice", found, *(call.constant([n], np.int64) for n in (0, 1, 1)))
    columns = call.add("Unsqueeze", call.add("GatherND", places, found), one)
    indices = call.add("Concat", rows, columns, axis=1)
    longest = call.add("ReduceMax", call.add("ReduceSum", kept, one, keepdims=0), keepdims=1)
    shape = call.add("Concat", call.add("Gather", sizes, one), longest, axis=0)
    best = call.add("Transpose", call.add("ReduceMax", scores, call.constant([2], np.int64), keepdims=0), perm=[1, 0])
    total = call.add("ReduceSum", call.add("Where", is_step, best, call.like(0)), one, keepdims=1)
    return [indices, call.add("GatherND", classes, found), shape, call.add("Neg", total)]


@converts("NthElement")
def nth_element(call):
    count = call.add("Add", call.numbers(1), call.constant([1], np.int64))
    options = {"axis": -1, "largest": int(call.attr("reverse")), "sorted": 1}
    values, _ = call.add("TopK", call.inputs[0], count, outputs=2, **options)
    last = call.constant([-1], np.int64)
    found = call.add("Slice", values, last, call.constant([2**62], np.int64), last)
    return call.add("Squeeze", found, last)

"""The best labels of a sequence of scores."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.translation import Call, converts


def _at(call, value, axis, number):
    return call.add("Gather", value, call.constant(number, np.int64), axis=axis)


def sparse_paths(call, classes, is_kept, is_merging):
    """(indices, values, shape) of the sparse tensor of the classes that are kept, int64 [batch, time] both.

    Where repetitions are merged, those of a class right before are left out.
    """
    one = call.ints(1)
    if is_merging:
        shifted = call.add("Pad", classes, call.ints(0, 1, 0, 0), call.constant(-1, np.int64))
        before = call.add("Slice", shifted, call.ints(0), call.ints(-1), one)
        is_kept = call.add("And", is_kept, call.add("Not", call.add("Equal", classes, before)))
    kept = call.cast(is_kept, np.int64)
    places = call.add("Sub", call.add("CumSum", kept, call.constant(1, np.int64)), call.constant(1, np.int64))
    found = call.add("Transpose", call.add("NonZero", is_kept), perm=[1, 0])
    rows = call.add("Slice", found, call.ints(0), one, one)
    columns = call.add("Unsqueeze", call.add("GatherND", places, found), one)
    indices = call.add("Concat", rows, columns, axis=1)
    longest = call.add("ReduceMax", call.add("ReduceSum", kept, one, keepdims=0), keepdims=1)
    shape = call.add("Concat", call.add("Shape", classes, end=1), longest, axis=0)
    return indices, call.add("GatherND", classes, found), shape


@converts("CTCGreedyDecoder")
def ctc_greedy_decoder(call: Call):
    """The best class of each step, without blanks and, where these are merged, without repetitions."""
    scores, one = call.inputs[0], call.ints(1)  # [time, batch, classes]
    sizes = call.add("Shape", scores)
    blank = call.add("Sub", _at(call, sizes, 0, 2), call.constant(1, np.int64))
    classes = call.add("Transpose", call.add("ArgMax", scores, axis=2, keepdims=0), perm=[1, 0])
    steps = call.below(_at(call, sizes, 0, 0))
    lengths = call.add("Unsqueeze", call.cast(call.inputs[1], np.int64), one)
    is_step = call.add("Less", steps, lengths)  # [batch, time]
    is_kept = call.add("And", is_step, call.add("Not", call.add("Equal", classes, blank)))
    decoded = sparse_paths(call, classes, is_kept, call.attr("merge_repeated"))
    best = call.add("Transpose", call.add("ReduceMax", scores, call.ints(2), keepdims=0), perm=[1, 0])
    total = call.add("ReduceSum", call.add("Where", is_step, best, call.like(0)), one, keepdims=1)
    return [*decoded, call.add("Neg", total)]

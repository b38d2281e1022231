"""CTCBeamSearchDecoder and GatherTree, by Scan over time.

A beam holds `width` prefixes, sequences of classes, in descending order of probability: arrays [batch, width], in
which what is not there has the logarithm of 0, a finite number.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stillflow.onnx_export.logarithms import ABSENT, LOG_ZERO, log, log_sum
from stillflow.onnx_export.ops.decoding import sparse_paths
from stillflow.onnx_export.scan import scan
from stillflow.onnx_export.translation import END, Call, converts

# A prefix is known by a number that follows from its classes, modulo 2^64: a product and a sum for each. Two of n
# prefixes share one with a chance of about n^2 / 2^65.
_FACTOR = 6364136223846793005


class _Beam(NamedTuple):
    """Names of values. Logarithms of the probabilities of the ways that end in a blank, in the last class, and both,
    float64; the numbers of prefixes and of their parents, their last classes (-1 of the empty one), their lengths,
    int64, all [batch, width]; and their classes, int64 [batch, width, time]."""

    blank: str
    label: str
    total: str
    number: str
    parent: str
    last: str
    length: str
    classes: str


_KINDS = [(np.float64, 2)] * 3 + [(np.int64, 2)] * 4 + [(np.int64, 3)]  # numpy types and ranks


def _empty_beam(call, batch, width, time):
    """The beam of the empty prefix alone."""
    sizes = call.add("Concat", batch, call.ints(width), axis=0)

    def filled(first, others, dtype):
        row = np.full(width, others, dtype)
        row[0] = first
        return call.add("Expand", call.constant(row), sizes)

    classes = call.add("Expand", call.constant(-1, np.int64), call.add("Concat", sizes, time, axis=0))
    logs = (filled(0, LOG_ZERO, np.float64), filled(LOG_ZERO, LOG_ZERO, np.float64))
    numbers = (filled(1, 0, np.int64), filled(0, 0, np.int64), filled(-1, -1, np.int64), filled(0, 0, np.int64))
    return _Beam(logs[0], logs[1], logs[0], *numbers, classes)


def _is_parent(call, beam):
    """Whether the first of two prefixes of a beam is the other without its last class, [batch, width, width]."""
    is_there = call.add("Greater", beam.total, log(call, ABSENT))
    pairs = call.add(
        "Equal", call.add("Unsqueeze", beam.number, call.ints(2)), call.add("Unsqueeze", beam.parent, call.ints(1))
    )
    both = call.add(
        "And", call.add("Unsqueeze", is_there, call.ints(2)), call.add("Unsqueeze", is_there, call.ints(1))
    )
    return call.add("And", pairs, both)


def _stay(call, beam, logs, is_parent):
    """(blank, label) of prefixes that a way does not extend: it goes on with a blank, or with the last class, or
    comes from the parent. Two equal classes have a blank between them."""
    is_same = call.add(
        "Equal", call.add("Unsqueeze", beam.last, call.ints(2)), call.add("Unsqueeze", beam.last, call.ints(1))
    )
    from_parent = call.add(
        "Where", is_same, *(call.add("Unsqueeze", value, call.ints(2)) for value in (beam.blank, beam.total))
    )
    from_parent = call.add("Where", is_parent, from_parent, log(call))
    from_parent = call.add("ReduceMax", from_parent, call.ints(1), keepdims=0)
    last = call.add("Max", beam.last, call.constant(0, np.int64))
    label = call.add("Add", log_sum(call, beam.label, from_parent), call.add("GatherElements", logs, last, axis=1))
    is_empty = call.add("Less", beam.last, call.constant(0, np.int64))
    blank_log = call.add("Slice", logs, call.ints(-1), call.ints(END), call.ints(1))
    return call.add("Add", beam.total, blank_log), call.add("Where", is_empty, log(call), label)


def _extend(call, beam, logs, is_parent):
    """(the probabilities of prefixes with one class more that are not in the beam, [batch, width, classes], how many
    classes)."""
    labels = call.add("Slice", logs, call.ints(0), call.ints(-1), call.ints(1))
    count = call.add("Squeeze", call.add("Shape", labels, start=1), call.ints(0))
    numbers = call.below(count)
    is_last = call.add("Equal", call.add("Unsqueeze", beam.last, call.ints(2)), numbers)
    before = call.add(
        "Where", is_last, *(call.add("Unsqueeze", value, call.ints(2)) for value in (beam.blank, beam.total))
    )
    made = call.add("Add", before, call.add("Unsqueeze", labels, call.ints(1)))
    is_there = call.add("MatMul", call.cast(is_parent, np.float64), call.cast(is_last, np.float64))
    made = call.add("Where", call.add("Greater", is_there, log(call, 0.5)), log(call), made)
    return made, count


def _forgotten(call, beam, stays, extended, is_parent):
    """Whether a prefix is not extended, [batch, width], of the totals of prefixes as they stay, and extended.

    TensorFlow extends one after the other, and pushes what is made into the beam, which lets its smallest go. Where
    a prefix that has gone is then met as a child of its parent, TensorFlow forgets it, and does not extend it if that
    was to come. So it is counted, prefix by prefix, how many of what was pushed are larger.
    """
    width = call.constant(call.attr("beam_width"), np.int64)

    def total_of(call, condition):
        return call.add("ReduceSum", call.cast(condition, np.int64), call.ints(2), keepdims=0)

    def along(call, value, axis):
        return call.add("Unsqueeze", value, call.ints(axis))

    larger = total_of(call, call.add("Greater", along(call, stays, 1), along(call, stays, 2)))
    not_smaller = total_of(call, call.add("GreaterOrEqual", along(call, stays, 1), along(call, beam.total, 2)))
    classes = call.below(call.add("Squeeze", call.add("Shape", extended, start=2), call.ints(0)))
    is_earlier = call.add("Less", classes, along(call, beam.last, 2))
    nothing = call.add("Less", beam.length, call.constant(0, np.int64))

    def extend_one(call, states, elements):
        (is_forgotten, larger, not_smaller), (made, children, place) = states, elements

        def of_place(value):
            return call.add("Squeeze", call.add("Gather", value, along(call, place, 0), axis=1), call.ints(1))

        is_gone = of_place(is_forgotten)
        made = call.add("Where", along(call, is_gone, 1), log(call), made)
        has_room = call.add("And", call.add("Less", of_place(not_smaller), width), call.add("Not", is_gone))
        is_larger = call.add("Greater", along(call, made, 1), along(call, stays, 2))
        earlier = total_of(call, call.add("And", is_larger, is_earlier))
        is_out = call.add("GreaterOrEqual", call.add("Add", larger, earlier), width)
        is_met = call.add("And", children, along(call, has_room, 1))
        is_not_smaller = call.add("GreaterOrEqual", along(call, made, 1), along(call, beam.total, 2))
        larger = call.add("Add", larger, total_of(call, is_larger))
        not_smaller = call.add("Add", not_smaller, total_of(call, is_not_smaller))
        return [call.add("Or", is_forgotten, call.add("And", is_met, is_out)), larger, not_smaller], [is_gone]

    extended, is_parent = (call.add("Transpose", value, perm=[1, 0, 2]) for value in (extended, is_parent))
    elements = [(extended, np.float64, 2), (is_parent, np.bool_, 2), (call.below(width), np.int64, 0)]
    states = [(nothing, np.bool_, 2), (larger, np.int64, 2), (not_smaller, np.int64, 2)]
    _, (is_gone,) = scan(call, extend_one, states, elements, [(np.bool_, 1)])
    return call.add("Transpose", is_gone, perm=[1, 0])


def _step(call, beam, logs, width):
    """The beam after one more time, whose logarithms of probabilities are `logs`, float64 [batch, classes]."""
    is_parent = _is_parent(call, beam)
    blank, label = _stay(call, beam, logs, is_parent)
    stays = log_sum(call, blank, label)
    extended, count = _extend(call, beam, logs, is_parent)
    is_forgotten = call.add("Unsqueeze", _forgotten(call, beam, stays, extended, is_parent), call.ints(2))
    extended = call.add("Reshape", call.add("Where", is_forgotten, log(call), extended), call.ints(0, -1))
    total = call.add("Concat", stays, extended, axis=1)
    total, places = call.add("TopK", total, call.ints(width), outputs=2, axis=1)
    total = call.add("Where", call.add("Greater", total, log(call, ABSENT)), total, log(call))
    wide = call.constant(width, np.int64)
    is_new = call.add("GreaterOrEqual", places, wide)
    beyond = call.add("Max", call.add("Sub", places, wide), call.constant(0, np.int64))
    source = call.add("Where", is_new, call.add("Div", beyond, count), places)
    added = call.add("Mod", beyond, count)

    def of_source(value):
        return call.add("GatherElements", value, source, axis=1)

    number, length = of_source(beam.number), of_source(beam.length)
    one = call.constant(1, np.int64)
    extended_number = call.add("Add", call.add("Mul", number, call.constant(_FACTOR)), call.add("Add", added, one))
    classes = call.add("GatherND", beam.classes, call.add("Unsqueeze", source, call.ints(2)), batch_dims=1)
    time = call.add("Squeeze", call.add("Shape", classes, start=2), call.ints(0))
    times = call.below(time)
    is_place = call.add("Equal", call.add("Unsqueeze", length, call.ints(2)), times)
    is_added = call.add("And", is_place, call.add("Unsqueeze", is_new, call.ints(2)))
    return _Beam(
        call.add("Where", is_new, log(call), of_source(blank)),
        call.add("Where", is_new, total, of_source(label)),
        total,
        call.add("Where", is_new, extended_number, number),
        call.add("Where", is_new, number, of_source(beam.parent)),
        call.add("Where", is_new, added, of_source(beam.last)),
        call.add("Where", is_new, call.add("Add", length, one), length),
        call.add("Where", is_added, call.add("Unsqueeze", added, call.ints(2)), classes),
    )


def _search(call, width):
    """The beam at the end of each sequence."""
    logs = call.add("LogSoftmax", call.cast(call.inputs[0], np.float64), axis=-1)
    time, batch = (call.add("Shape", logs, start=axis, end=axis + 1) for axis in (0, 1))
    lengths = call.add("Unsqueeze", call.cast(call.inputs[1], np.int64), call.ints(1))
    times = call.below(call.add("Squeeze", time))

    def step(call, states, elements):
        before, (logs_now, time_now) = _Beam(*states), elements
        after = _step(call, before, logs_now, width)
        is_time = call.add("Less", time_now, lengths)
        is_time_of_all = call.add("Unsqueeze", is_time, call.ints(2))
        kept = [call.add("Where", is_time, *pair) for pair in zip(after[:-1], before[:-1], strict=True)]
        return [*kept, call.add("Where", is_time_of_all, after.classes, before.classes)], []

    begin = _empty_beam(call, batch, width, time)
    states = [(name, *kind) for name, kind in zip(begin, _KINDS, strict=True)]
    return _Beam(*scan(call, step, states, [(logs, np.float64, 2), (times, np.int64, 0)])[0])


@converts("CTCBeamSearchDecoder")
def ctc_beam_search_decoder(call: Call):
    beam = _search(call, call.attr("beam_width"))
    paths, is_merging = call.attr("top_paths"), call.attr("merge_repeated")
    decoded = []
    for path in range(paths):
        place = call.constant(path, np.int64)
        classes = call.add("Gather", beam.classes, place, axis=1)  # [batch, time], -1 behind the end
        is_kept = call.add("GreaterOrEqual", classes, call.constant(0, np.int64))
        decoded.append(sparse_paths(call, classes, is_kept, is_merging))
    logs = call.add("Slice", beam.total, call.ints(0), call.ints(paths), call.ints(1))
    return [*(part for parts in zip(*decoded, strict=True) for part in parts), call.to_type_of(logs, call.dtype())]


@converts("GatherTree")
def gather_tree(call):
    """Follows each beam back from its end, and fills up what comes behind its first end token."""
    symbols, parents, lengths, end_token = call.inputs  # [time, batch, width] twice, [batch], []
    time = call.add("Squeeze", call.add("Shape", symbols, end=1), call.ints(0))
    times = call.below(call.cast(time, np.int32), np.int32)
    limits = call.add("Unsqueeze", lengths, call.ints(1))
    width = call.cast(call.add("Squeeze", call.add("Shape", symbols, start=2), call.ints(0)), np.int32)
    beams = call.below(width, np.int32)
    begin = call.add("Expand", beams, call.add("Shape", symbols, start=1))

    def step(call, states, elements):
        (place,), (symbol, parent, time_now) = states, elements
        is_time = call.add("Less", time_now, limits)
        symbol, parent = (call.add("GatherElements", value, place, axis=1) for value in (symbol, parent))
        return [call.add("Where", is_time, parent, place)], [call.add("Where", is_time, symbol, end_token)]

    elements = [(symbols, np.int32, 2), (parents, np.int32, 2), (times, np.int32, 0)]
    _, (found,) = scan(call, step, [(begin, np.int32, 2)], elements, [(np.int32, 2)], is_backwards=True)
    ends = call.cast(call.add("Equal", found, end_token), np.int32)
    is_over = call.add("Greater", call.add("CumSum", ends, call.constant(0), exclusive=1), call.constant(0, np.int32))
    return call.add("Where", is_over, end_token, found)

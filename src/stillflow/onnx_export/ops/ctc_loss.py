"""CTCLoss and its gradient: the sums over all ways to align labels with time (A. Graves et al., "Connectionist
temporal classification", 2006), by two Scans."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.logarithms import ABSENT, log, log_sum
from stillflow.onnx_export.scan import scan
from stillflow.onnx_export.translation import END, Call, converts


class _Labels:
    """The labels of each sequence with blanks around them, its states: `states`, int64 [batch, most states], their
    classes; `counts`, int64 [batch, 1], how many labels; `given`, int64 [batch], how many before any collapsed."""

    def __init__(self, call, batch, blank):
        rows = call.add("Gather", call.inputs[1], call.constant(0, np.int64), axis=1)
        values = call.cast(call.inputs[2], np.int64)
        numbers = call.below(batch)
        self.given = _counts(call, rows, numbers)
        is_kept = call.add("Less", values, blank)
        if call.attr("preprocess_collapse_repeated"):
            is_kept = call.add("And", is_kept, call.add("Not", _repeats(call, rows, values)))
        kept = call.add("Squeeze", call.add("NonZero", is_kept), call.ints(0))
        rows, values = (call.add("Gather", value, kept) for value in (rows, values))
        counts = _counts(call, rows, numbers)
        begins = call.add("CumSum", counts, call.constant(0, np.int64), exclusive=1)
        size = call.add("Squeeze", call.add("Size", rows))
        places = call.add("Sub", call.below(size), call.add("Gather", begins, rows))
        width = call.add("ReduceMax", counts, keepdims=1)
        batch_size = call.add("Reshape", batch, call.ints(1))
        blanks = call.add("Expand", blank, call.add("Concat", batch_size, width, axis=0))
        pairs = call.add("Concat", *(call.add("Unsqueeze", value, call.ints(1)) for value in (rows, places)), axis=1)
        labels = call.add("ScatterND", blanks, pairs, values)
        both = [call.add("Unsqueeze", value, call.ints(2)) for value in (blanks, labels)]
        mixed = call.add("Reshape", call.add("Concat", *both, axis=2), call.ints(0, -1))
        last = call.add("Expand", blank, call.add("Concat", batch_size, call.ints(1), axis=0))
        self.states = call.add("Concat", mixed, last, axis=1)
        self.counts = call.add("Unsqueeze", counts, call.ints(1))


def _counts(call, rows, numbers):
    """How many labels each sequence has."""
    is_row = call.add("Equal", rows, call.add("Unsqueeze", numbers, call.ints(1)))
    return call.add("ReduceSum", call.cast(is_row, np.int64), call.ints(1), keepdims=0)


def _repeats(call, rows, values):
    """Whether the label before is the same, of the same sequence."""
    is_same = []
    for value in (rows, values):
        before = call.add("Slice", call.add("Concat", call.ints(-1), value, axis=0), call.ints(0), call.ints(-1))
        is_same.append(call.add("Equal", value, before))
    return call.add("And", *is_same)


def _shifted(call, logs, count):
    """Logarithms of states [batch, states] moved by `count` places, with those of 0 where nothing comes from."""
    pads = call.ints(0, max(count, 0), 0, max(-count, 0))
    padded = call.add("Pad", logs, pads, log(call))
    begin, end = (0, -count) if count > 0 else (-count, END)
    return call.add("Slice", padded, call.ints(begin), call.ints(end), call.ints(1))


def _only(call, condition, logs):
    return call.add("Where", condition, logs, log(call))


class _Alignment:
    """The sums of a batch of sequences over all ways up to, and from, each state at each time."""

    def __init__(self, call, scores, labels, lengths, blank):
        self.call, self.labels, self.lengths = call, labels, lengths
        states = labels.states
        time = call.add("Shape", scores, end=1)
        whole = call.add("Expand", states, call.add("Concat", time, call.ints(1, 1), axis=0))
        self.logs = call.add("GatherElements", scores, whole, axis=2)  # [time, batch, states]
        self.times = call.below(call.add("Squeeze", time))
        size = call.add("Squeeze", call.add("Shape", states, start=1), call.ints(0))
        self.numbers = call.below(size)
        self.is_blank = call.add("Equal", call.add("Mod", self.numbers, call.constant(2, np.int64)), call.constant(0))
        self.is_last = self._ends()
        self.may_skip = self._skips(blank)
        self.zeros = call.add("Expand", log(call), call.add("Shape", states))

    def _ends(self):
        """Whether a state is one of the two that a way may end in: the last label, or the blank behind it."""
        call = self.call
        last = call.add("Mul", self.labels.counts, call.constant(2, np.int64))
        before = call.add("Sub", last, call.constant(1, np.int64))
        return call.add("Or", call.add("Equal", self.numbers, last), call.add("Equal", self.numbers, before))

    def _skips(self, blank):
        """Whether a way may come to a state from that before its blank, which it does to another label."""
        call, states = self.call, self.labels.states
        before = call.add("Pad", states, call.ints(0, 2, 0, 0), blank)
        before = call.add("Slice", before, call.ints(0), call.ints(-2), call.ints(1))
        may = call.add("And", call.add("Not", self.is_blank), call.add("Greater", self.numbers, call.constant(1)))
        if call.attr("ctc_merge_repeated"):
            return call.add("And", may, call.add("Not", call.add("Equal", states, before)))
        return call.add("Expand", may, call.add("Shape", states))

    def _staying(self, call, logs):
        return logs if call.attr("ctc_merge_repeated") else _only(call, self.is_blank, logs)

    def forward(self):
        """(the sums at the end of each sequence [batch, states], those at each time [time, batch, states])."""
        call = self.call

        def step(call, states, elements):
            (before,), (logs, time) = states, elements
            skipped = _only(call, self.may_skip, _shifted(call, before, 2))
            total = log_sum(call, self._staying(call, before), _shifted(call, before, 1), skipped)
            is_time = call.add("Less", time, self.lengths)
            now = call.add("Where", is_time, call.add("Add", logs, total), before)
            return [now], [now]

        # Before all time a way is in the first blank, from which the first label can be reached.
        is_first = call.add("Equal", self.numbers, call.constant(0))
        begin = call.add("Where", is_first, log(call, 0), self.zeros)
        (end,), (all_times,) = scan(call, step, [(begin, np.float64, 2)], self._elements(), [(np.float64, 2)])
        return end, all_times

    def _elements(self):
        return [(self.logs, np.float64, 2), (self.times, np.int64, 0)]

    def occupied(self, forward, total, hot):
        """The part of all ways that is in each class at each time, [time, batch, classes]."""
        call = self.call
        last_time = call.add("Sub", self.lengths, call.constant(1, np.int64))
        ends = call.add("Where", self.is_last, log(call, 0), self.zeros)
        skips_on = call.add("Pad", call.cast(self.may_skip, np.int64), call.ints(0, 0, 0, 2))
        skips_on = call.add("Slice", skips_on, call.ints(2), call.ints(END), call.ints(1))
        may_skip_on = call.cast(skips_on, np.bool_)

        def step(call, states, elements):
            (after,), (logs, time, ways) = states, elements
            skipped = _only(call, may_skip_on, _shifted(call, after, -2))
            here = log_sum(call, self._staying(call, after), _shifted(call, after, -1), skipped)
            here = call.add("Where", call.add("Equal", time, last_time), ends, here)
            parts = call.add("Exp", call.add("Sub", call.add("Add", ways, here), total))
            by_class = call.add("MatMul", call.add("Unsqueeze", parts, call.ints(1)), hot)
            return [call.add("Add", here, logs)], [call.add("Squeeze", by_class, call.ints(1))]

        elements = [*self._elements(), (forward, np.float64, 2)]
        begin = [(self.zeros, np.float64, 2)]
        _, (parts,) = scan(call, step, begin, elements, [(np.float64, 2)], is_backwards=True)
        return parts


@converts("CTCLoss")
def ctc_loss(call: Call):
    scores = call.cast(call.inputs[0], np.float64)  # [time, batch, classes]
    sizes = call.add("Shape", scores)
    batch, classes = (call.add("Gather", sizes, call.constant(axis, np.int64)) for axis in (1, 2))
    blank = call.add("Sub", classes, call.constant(1, np.int64))
    labels = _Labels(call, batch, blank)
    length = call.cast(call.inputs[3], np.int64)
    lengths = call.add("Unsqueeze", length, call.ints(1))
    logs = call.add("LogSoftmax", scores, axis=-1)
    alignment = _Alignment(call, logs, labels, lengths, blank)
    end, ways = alignment.forward()
    total = call.add("ReduceLogSumExp", _only(call, alignment.is_last, end), call.ints(1), keepdims=1)
    is_possible = call.add("Greater", total, log(call, ABSENT))
    # Sequences of no time, or of less than they have labels, are ignored.
    has_time = call.add("And", call.add("Greater", length, call.constant(0)), _fits(call, labels, length))
    loss = call.add("Where", is_possible, call.add("Neg", total), log(call, np.inf))
    loss = call.add("Where", has_time, call.add("Squeeze", loss, call.ints(1)), log(call, 0))
    hot = call.add("Equal", call.add("Unsqueeze", labels.states, call.ints(2)), call.below(classes))
    occupied = alignment.occupied(ways, total, call.cast(hot, np.float64))
    occupied = call.add("Where", call.add("Unsqueeze", is_possible, call.ints(0)), occupied, log(call, 0))
    gradient = call.add("Sub", call.add("Softmax", scores, axis=-1), occupied)
    is_time = call.add("Less", call.add("Unsqueeze", alignment.times, call.ints(1)), length)
    is_counted = call.add("Unsqueeze", call.add("And", is_time, has_time), call.ints(2))
    gradient = call.add("Where", is_counted, gradient, log(call, 0))
    return [call.to_type_of(value, call.dtype()) for value in (loss, gradient)]


def _fits(call, labels, length):
    return call.add("LessOrEqual", labels.given, length)

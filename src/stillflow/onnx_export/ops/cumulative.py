"""Running sums, and by Scan running products and logarithms of running sums, which ONNX has no operator for."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.logarithms import log_sum
from stillflow.onnx_export.scan import scan
from stillflow.onnx_export.translation import Call, converts


@converts("Cumsum")
def cumsum(call: Call):
    options = {name: int(call.attr(name)) for name in ("exclusive", "reverse")}
    return call.add("CumSum", call.inputs[0], call.inputs[1], **options)


def _running(call, combine, beginning):
    """What `combine` makes of each element and all before it, or behind it, along the axis of input 1."""
    rank, axis = len(call.dims()), int(call.known(1, "an axis"))
    order = [axis % rank, *(other for other in range(rank) if other != axis % rank)]
    first = call.add("Transpose", call.inputs[0], perm=order)
    numpy_type = call.dtype().base_dtype.as_numpy_dtype
    is_exclusive = call.attr("exclusive")

    def step(call, states, elements):
        following = combine(call, states[0], elements[0])
        return [following], [states[0] if is_exclusive else following]

    begin = call.add("Expand", call.like(beginning), call.add("Shape", first, start=1))
    kind = (numpy_type, rank - 1)
    _, (made,) = scan(call, step, [(begin, *kind)], [(first, *kind)], [kind], bool(call.attr("reverse")))
    return call.add("Transpose", made, perm=list(np.argsort(order)))


@converts("Cumprod")
def cumprod(call):
    return _running(call, lambda call, before, element: call.add("Mul", before, element), 1)


@converts("CumulativeLogsumexp")
def cumulative_logsumexp(call):
    return _running(call, log_sum, np.finfo(call.dtype().as_numpy_dtype).min)

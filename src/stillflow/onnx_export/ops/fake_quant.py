"""Quantization that is simulated in float, and its gradients."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stillflow.onnx_export.translation import Call, converts


class _Steps(NamedTuple):
    """Names of the least and the largest number that can be told apart, and of what lies between two."""

    low: str
    high: str
    size: str


def _number(call, value):
    return call.constant(value, np.float32)


def _steps(call, least, most):
    """Between bounds that are moved so that 0 is a step."""
    first, last = float(call.attr("narrow_range")), 2.0 ** call.attr("num_bits") - 1
    size = call.add("Div", call.add("Sub", most, least), _number(call, last - first))
    zero = call.add("Sub", _number(call, first), call.add("Div", least, size))
    zero = call.add("Floor", call.add("Add", zero, _number(call, 0.5)))
    zero = call.add("Clip", zero, _number(call, first), _number(call, last))
    low, high = (call.add("Mul", call.add("Sub", _number(call, end), zero), size) for end in (first, last))
    return _Steps(low, high, size)


def _bounds(call, first):
    """The bounds: attributes, or the inputs from `first` on."""
    if "Args" in call.op.type:
        return _number(call, call.attr("min")), _number(call, call.attr("max"))
    return call.inputs[first : first + 2]


def _is_nothing(call, least, most):
    """Whether both bounds are 0, of which only 0 is between."""
    zero = _number(call, 0)
    return call.add("And", call.add("Equal", least, zero), call.add("Equal", most, zero))


@converts("FakeQuantWithMinMaxArgs", "FakeQuantWithMinMaxVars", "FakeQuantWithMinMaxVarsPerChannel")
def fake_quant(call: Call):
    bounds = _bounds(call, 1)
    steps = _steps(call, *bounds)
    inside = call.add("Max", call.add("Min", call.inputs[0], steps.high), steps.low)
    count = call.add("Div", call.add("Sub", inside, steps.low), steps.size)
    count = call.add("Floor", call.add("Add", count, _number(call, 0.5)))
    found = call.add("Add", call.add("Mul", count, steps.size), steps.low)
    return call.add("Where", _is_nothing(call, *bounds), _number(call, 0), found)


@converts(
    "FakeQuantWithMinMaxArgsGradient", "FakeQuantWithMinMaxVarsGradient", "FakeQuantWithMinMaxVarsPerChannelGradient"
)
def fake_quant_gradient(call):
    """That of the numbers where they are between the bounds, and of a bound the sum of what is beyond it."""
    gradient, numbers = call.inputs[:2]
    bounds = _bounds(call, 2)
    steps = _steps(call, *bounds)
    is_nothing = call.add("Not", _is_nothing(call, *bounds))
    is_low = call.add("And", call.add("Less", numbers, steps.low), is_nothing)
    is_high = call.add("And", call.add("Greater", numbers, steps.high), is_nothing)
    zero = _number(call, 0)
    of_numbers = call.add("Where", call.add("Or", is_low, is_high), zero, gradient)
    if len(call.op.outputs) == 1:
        return of_numbers
    rank = len(call.dims()) if "PerChannel" not in call.op.type else len(call.dims()) - 1
    options = {"keepdims": 0, "noop_with_empty_axes": 1}
    beyond = [
        call.add("ReduceSum", call.add("Where", side, gradient, zero), call.ints(*range(rank)), **options)
        for side in (is_low, is_high)
    ]
    return [of_numbers, *beyond]

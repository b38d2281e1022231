"""Gradients of elementwise ops and of biases: what a graph has that computes derivatives of its own."""

from __future__ import annotations

from stillflow.onnx_export.translation import Call, converts

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def _times(call, *factors):
    found = factors[0]
    for factor in factors[1:]:
        found = call.add("Mul", found, factor)
    return found


@converts("SigmoidGrad")
def sigmoid_gradient(call: Call):
    y, gradient = call.inputs
    return _times(call, gradient, y, call.add("Sub", call.like(1), y))


@converts("TanhGrad")
def _tanh(call):
    y, gradient = call.inputs
    return _times(call, gradient, call.add("Sub", call.like(1), _times(call, y, y)))


@converts("InvGrad", "ReciprocalGrad")
def _reciprocal(call):
    y, gradient = call.inputs
    return call.add("Neg", _times(call, gradient, y, y))


@converts("SqrtGrad")
def _sqrt(call):
    y, gradient = call.inputs
    return call.add("Div", _times(call, gradient, call.like(0.5)), y)


@converts("RsqrtGrad")
def _rsqrt(call):
    y, gradient = call.inputs
    return _times(call, gradient, call.like(-0.5), y, y, y)


@converts("SoftplusGrad")
def _softplus(call):
    gradient, x = call.inputs
    return _times(call, gradient, call.add("Sigmoid", x))


@converts("SoftsignGrad")
def _softsign(call):
    gradient, x = call.inputs
    distance = call.add("Add", call.like(1), call.add("Abs", x))
    return call.add("Div", gradient, _times(call, distance, distance))


@converts("ReluGrad")
def _relu(call):
    gradient, x = call.inputs
    return call.add("Where", call.add("Greater", x, call.like(0)), gradient, call.like(0))


@converts("Relu6Grad")
def _relu6(call):
    gradient, x = call.inputs
    is_within = call.add("And", call.add("Greater", x, call.like(0)), call.add("Less", x, call.like(6)))
    return call.add("Where", is_within, gradient, call.like(0))


@converts("LeakyReluGrad")
def _leaky_relu(call):
    gradient, x = call.inputs
    scaled = _times(call, gradient, call.like(call.attr("alpha")))
    return call.add("Where", call.add("Greater", x, call.like(0)), gradient, scaled)


@converts("EluGrad")
def _elu(call):
    gradient, y = call.inputs
    below = _times(call, gradient, call.add("Add", y, call.like(1)))
    return call.add("Where", call.add("Less", y, call.like(0)), below, gradient)


@converts("SeluGrad")
def _selu(call):
    gradient, y = call.inputs
    below = _times(call, gradient, call.add("Add", y, call.like(_SELU_SCALE * _SELU_ALPHA)))
    above = _times(call, gradient, call.like(_SELU_SCALE))
    return call.add("Where", call.add("Less", y, call.like(0)), below, above)


@converts("BiasAddGrad")
def _bias_add(call):
    rank = call.op.inputs[0].shape.ndims
    channels = 1 if call.attr("data_format") == "NCHW" else rank - 1
    axes = call.ints(*(axis for axis in range(rank) if axis != channels))
    return call.add("ReduceSum", call.inputs[0], axes, keepdims=0)

"""Activation functions of neural networks, and the ops in their gradients."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import merge
from stillflow.graph.shape_inference import ShapeError
from stillflow.graph.shape_inference import incompatible_text as incompatible
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_FLOATS = "float16, bfloat16, float32, float64"
_NUMBERS = "float32, float64, int32, uint8, int16, int8, int64, bfloat16, uint16, float16, uint32, uint64"
_ALPHA = "alpha: float = 0.20000000298023224; "


def _activation(name, types, elementwise, attrs="", default="", **options):
    op = define_op(
        f"{name}(features: T) -> (activations: T)",
        f"{attrs}T: {{{types}}}{default}",
        elementwise=elementwise,
        **options,
    )
    op.shape_rule(unchanged_shape)
    return op


def _gradient_of(name, types, elementwise, of="features", attrs="", default="", **options):
    """An op that makes the gradient of an activation from that of its result and `of`."""
    op = define_op(
        f"{name}(gradients: T, {of}: T) -> (backprops: T)",
        f"{attrs}T: {{{types}}}{default}",
        elementwise=elementwise,
        **options,
    )
    op.shape_rule(_merged_shape)
    return op


def _merged_shape(context):
    merged = merge(*context.shapes)
    if merged is False:
        raise ShapeError(incompatible(*context.shapes))
    return merged


relu = _activation("Relu", f"{_NUMBERS}, qint8", "relu", public="nn.relu", doc="max(x, 0).")
relu6_op = _activation("Relu6", _NUMBERS, "relu6")
elu = _activation("Elu", _FLOATS, "elu", public="nn.elu", doc="x where it is positive, else exp(x) - 1.")
selu = _activation(
    "Selu", _FLOATS, "selu", public="nn.selu", doc="`elu` scaled such that activations tend to mean 0 and variance 1."
)
leaky_relu_op = _activation("LeakyRelu", _FLOATS, "leaky_relu | alpha", _ALPHA, " = float32")
softplus = _activation("Softplus", _FLOATS, "softplus", public="math.softplus nn.softplus", doc="log(1 + exp(x)).")
softsign = _activation("Softsign", _FLOATS, "softsign", public="math.softsign nn.softsign", doc="x / (1 + |x|).")

relu_grad = _gradient_of("ReluGrad", _NUMBERS, "relu_grad")
relu6_grad = _gradient_of("Relu6Grad", _NUMBERS, "relu6_grad")
elu_grad = _gradient_of("EluGrad", _FLOATS, "elu_grad", of="outputs")
selu_grad = _gradient_of("SeluGrad", _FLOATS, "selu_grad", of="outputs")
leaky_relu_grad = _gradient_of(
    "LeakyReluGrad", _FLOATS, "leaky_relu_grad | alpha", attrs=_ALPHA, default=" = float32"
)
softplus_grad = _gradient_of("SoftplusGrad", _FLOATS, "softplus_grad")
softsign_grad = _gradient_of("SoftsignGrad", _FLOATS, "softsign_grad", differentiable=None)


@public("nn.relu6")
def relu6(features, name=None):
    """min(max(x, 0), 6)."""
    with name_scope(name, "Relu6", [features]) as scope:
        return relu6_op(convert_to_tensor(features, name="features"), name=scope)


@public("nn.leaky_relu")
def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, else alpha * x. Integers become float32."""
    with name_scope(name, "LeakyRelu", [features, alpha]) as scope:
        features = convert_to_tensor(features, name="features")
        if features.dtype.is_integer:
            features = ops.cast(features, dtypes.float32)
        if isinstance(alpha, np.ndarray):
            alpha = alpha.item()
        return leaky_relu_op(features, alpha=alpha, name=scope)


@public("nn.crelu")
def crelu(features, name=None, axis=-1):
    """The positive parts of x and of -x, side by side along `axis`."""
    with name_scope(name, "CRelu", [features]) as scope:
        features = convert_to_tensor(features, name="features")
        return relu(ops.concat([features, -features], axis, name=scope))


# ---- Gradients --------------------------------------------------------------------------------------------


def _of_output(gradient_op):
    def gradient(op, grad):
        return gradient_op(grad, op._outputs[0])

    return gradient


relu.gradient(_of_output(relu_grad))
relu6_op.gradient(_of_output(relu6_grad))
elu.gradient(_of_output(elu_grad))
selu.gradient(_of_output(selu_grad))


@leaky_relu_op.gradient
def _(op, grad):
    return leaky_relu_grad(grad, op._inputs[0], alpha=op.get_attr("alpha"))


@softplus.gradient
def _(op, grad):
    return grad * ops.sigmoid(op._inputs[0])


@softsign.gradient
def _(op, grad):
    return softsign_grad(grad, op._inputs[0])


# ---- Gradients of gradients -------------------------------------------------------------------------------


def _piecewise_linear(gradient_op):
    """Of ops that depend on their features by jumps alone."""

    def gradient(op, grad):
        features = op._inputs[1]
        return gradient_op(grad, features), ops.zeros(ops.shape(features), features.dtype)

    return gradient


relu_grad.gradient(_piecewise_linear(relu_grad))
relu6_grad.gradient(_piecewise_linear(relu6_grad))


@leaky_relu_grad.gradient
def _(op, grad):
    features = op._inputs[1]
    first = leaky_relu_grad(grad, features, alpha=op.get_attr("alpha"))
    return first, ops.zeros(ops.shape(features), features.dtype)


def _linear_below_zero(gradient_op):
    """Of ops that depend on their outputs where these are negative, by a product with the gradient."""

    def gradient(op, grad):
        gradients, outputs = op._inputs
        first = gradient_op(grad, outputs)
        is_below = outputs < 0
        product = grad * gradients
        return first, ops.where(is_below, product, ops.zeros_like(outputs))

    return gradient


elu_grad.gradient(_linear_below_zero(elu_grad))
selu_grad.gradient(_linear_below_zero(selu_grad))


@softplus_grad.gradient
def _(op, grad):
    gradients, features = op._inputs
    with get_default_graph().control_dependencies([grad]):
        first = softplus_grad(grad, features)
        product = grad * gradients
        return first, product / (ops.exp(-features) + 2.0 + ops.exp(features))

"""Elementwise ops of one input: signs, roots, exponentials, trigonometry, roundings, and ops in their gradients."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.registry import define_op

_FLOATS = "bfloat16, float16, float32, float64"
_COMPLEX = "complex64, complex128"


def unchanged_shape(context):
    """The shape rule of ops whose output has the shape of their first input."""
    return context.shapes[0]


def _unary(name, types, elementwise, **options):
    op = define_op(f"{name}(x: T) -> (y: T)", f"T: {{{types}}}", elementwise=elementwise, **options)
    op.shape_rule(unchanged_shape)
    return op


def _test(name, elementwise):
    op = define_op(f"{name}(x: T) -> (y: bool)", f"T: {{{_FLOATS}}}", elementwise=elementwise, differentiable=False)
    op.shape_rule(unchanged_shape)
    return op


def _gradient_of(name, elementwise, **options):
    """An op that makes, from y = f(x) and the gradient of y, that of x."""
    op = define_op(
        f"{name}(y: T, dy: T) -> (z: T)", f"T: {{{_FLOATS}, {_COMPLEX}}}", elementwise=elementwise, **options
    )
    op.shape_rule(unchanged_shape)
    return op


_FLOATS_AND_INTS = f"{_FLOATS}, int32, int64, {_COMPLEX}"
_FLOATS_AND_COMPLEX = f"{_FLOATS}, {_COMPLEX}"

neg = negative = _unary("Neg", _FLOATS_AND_INTS, "neg")
abs = _unary("Abs", f"{_FLOATS}, int8, int16, int32, int64", "abs")
sign = _unary("Sign", _FLOATS_AND_INTS, "sign")
square = _unary("Square", _FLOATS_AND_INTS, "square")
sqrt = _unary("Sqrt", _FLOATS_AND_COMPLEX, "sqrt")
rsqrt = _unary("Rsqrt", _FLOATS_AND_COMPLEX, "rsqrt")
reciprocal = _unary("Reciprocal", _FLOATS_AND_INTS, "reciprocal")
inv = _unary("Inv", _FLOATS_AND_INTS, "reciprocal")

exp = _unary("Exp", _FLOATS_AND_COMPLEX, "exp")
expm1 = _unary("Expm1", _FLOATS_AND_COMPLEX, "expm1")
log = _unary("Log", _FLOATS_AND_COMPLEX, "log")
log1p = _unary("Log1p", _FLOATS_AND_COMPLEX, "log1p")
sigmoid = _unary("Sigmoid", _FLOATS_AND_COMPLEX, "sigmoid")
tanh = _unary("Tanh", _FLOATS_AND_COMPLEX, "tanh")
sinh = _unary("Sinh", _FLOATS_AND_COMPLEX, "sinh")
cosh = _unary("Cosh", _FLOATS_AND_COMPLEX, "cosh")
asinh = _unary("Asinh", _FLOATS_AND_COMPLEX, "asinh")
acosh = _unary("Acosh", _FLOATS_AND_COMPLEX, "acosh")
atanh = _unary("Atanh", _FLOATS_AND_COMPLEX, "atanh")

sin = _unary("Sin", _FLOATS_AND_COMPLEX, "sin")
cos = _unary("Cos", _FLOATS_AND_COMPLEX, "cos")
tan = _unary("Tan", _FLOATS_AND_INTS, "tan")
asin = _unary("Asin", _FLOATS_AND_INTS, "asin")
acos = _unary("Acos", _FLOATS_AND_INTS, "acos")
atan = _unary("Atan", _FLOATS_AND_INTS, "atan")

erf = _unary("Erf", _FLOATS, "erf")
erfc = _unary("Erfc", _FLOATS, "erfc")
lgamma = _unary("Lgamma", _FLOATS, "lgamma")
digamma = _unary("Digamma", _FLOATS, "digamma")

floor = _unary("Floor", _FLOATS, "floor", differentiable=False)
ceil = _unary("Ceil", _FLOATS, "ceil", differentiable=False)
round_op = _unary("Round", _FLOATS_AND_INTS, "rint", differentiable=False)
rint = _unary("Rint", _FLOATS, "rint", differentiable=False)
is_nan = _test("IsNan", "is_nan")
is_inf = _test("IsInf", "is_inf")
is_finite = _test("IsFinite", "is_finite")

reciprocal_grad = _gradient_of("ReciprocalGrad", "reciprocal_grad")
inv_grad = _gradient_of("InvGrad", "reciprocal_grad")
sqrt_grad = _gradient_of("SqrtGrad", "sqrt_grad")
rsqrt_grad = _gradient_of("RsqrtGrad", "rsqrt_grad")
tanh_grad = _gradient_of("TanhGrad", "tanh_grad")
sigmoid_grad = _gradient_of("SigmoidGrad", "sigmoid_grad")


def round(x, name=None):
    """Rounds to the nearest integer, halves to the even one. Integers come back as they are."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_op(x, name=name)


def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x)))."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return neg(ops.softplus(-x), name=scope)


# ---- Gradients --------------------------------------------------------------------------------------------


def _after(grad):
    """The scope of nodes that wait for the gradient, so that they do not take memory before it is there."""
    return get_default_graph().control_dependencies([grad])


@neg.gradient
def _(op, grad):
    return -grad


@abs.gradient
def _(op, grad):
    return grad * sign(op._inputs[0])


@sign.gradient
def _(op, grad):
    x = op._inputs[0]
    return ops.zeros(ops.shape(x), x.dtype)


@square.gradient
def _(op, grad):
    x = op._inputs[0]
    with _after(grad):
        two = ops.constant(2.0, dtype=x.dtype)
        return ops.mul(grad, ops.mul(x, two))


@sqrt.gradient
def _(op, grad):
    return sqrt_grad(op._outputs[0], grad)


@rsqrt.gradient
def _(op, grad):
    return rsqrt_grad(op._outputs[0], grad)


@reciprocal.gradient
@inv.gradient
def _(op, grad):
    return reciprocal_grad(op._outputs[0], grad)


@exp.gradient
def _(op, grad):
    with _after(grad):
        return grad * op._outputs[0]


@expm1.gradient
def _(op, grad):
    with _after(grad):
        y = exp(op._inputs[0])
        return grad * y


@log.gradient
def _(op, grad):
    with _after(grad):
        return grad * reciprocal(op._inputs[0])


@log1p.gradient
def _(op, grad):
    with _after(grad):
        return grad * reciprocal(1 + op._inputs[0])


@sigmoid.gradient
def _(op, grad):
    with _after(grad):
        return sigmoid_grad(op._outputs[0], grad)


@tanh.gradient
def _(op, grad):
    with _after(grad):
        return tanh_grad(op._outputs[0], grad)


@sinh.gradient
def _(op, grad):
    with _after(grad):
        return grad * cosh(op._inputs[0])


@cosh.gradient
def _(op, grad):
    with _after(grad):
        return grad * sinh(op._inputs[0])


@asinh.gradient
def _(op, grad):
    with _after(grad):
        return grad / cosh(op._outputs[0])


@acosh.gradient
def _(op, grad):
    with _after(grad):
        return grad / sinh(op._outputs[0])


@atanh.gradient
def _(op, grad):
    with _after(grad):
        squared = square(op._inputs[0])
        one = ops.constant(1, dtype=grad.dtype)
        return grad * reciprocal(ops.sub(one, squared))


@sin.gradient
def _(op, grad):
    with _after(grad):
        return grad * cos(op._inputs[0])


@cos.gradient
def _(op, grad):
    with _after(grad):
        return -grad * sin(op._inputs[0])


@tan.gradient
def _(op, grad):
    with _after(grad):
        secant = reciprocal(cos(op._inputs[0]))
        return square(secant) * grad


def _inverse_of_leg(op, grad):
    """1 / sqrt(1 - x^2)."""
    squared = square(op._inputs[0])
    one = ops.constant(1, dtype=grad.dtype)
    return reciprocal(sqrt(ops.sub(one, squared)))


@asin.gradient
def _(op, grad):
    with _after(grad):
        inverse = _inverse_of_leg(op, grad)
        return grad * inverse


@acos.gradient
def _(op, grad):
    with _after(grad):
        inverse = _inverse_of_leg(op, grad)
        return -grad * inverse


@atan.gradient
def _(op, grad):
    with _after(grad):
        squared = square(op._inputs[0])
        one = ops.constant(1, dtype=grad.dtype)
        return grad * reciprocal(ops.add(one, squared))


def _error_function_gradient(factor):
    def gradient(op, grad):
        factor_tensor = ops.constant(factor, dtype=grad.dtype)
        with _after(grad):
            return grad * factor_tensor * exp(-square(op._inputs[0]))

    return gradient


erf.gradient(_error_function_gradient(2 / math.sqrt(math.pi)))
erfc.gradient(_error_function_gradient(-2 / math.sqrt(math.pi)))


@lgamma.gradient
def _(op, grad):
    with _after(grad):
        return grad * digamma(op._inputs[0])


@digamma.gradient
def _(op, grad):
    x = op._inputs[0]
    with _after(grad):
        return grad * ops.polygamma(ops.constant(1, dtype=x.dtype), x)


# ---- Gradients of gradients -------------------------------------------------------------------------------


@reciprocal_grad.gradient
@inv_grad.gradient
def _(op, grad):
    y, dy = op._inputs
    with _after(grad):
        return grad * -2.0 * dy * y, reciprocal_grad(y, grad)


@sqrt_grad.gradient
def _(op, grad):
    y = op._inputs[0]
    with _after(grad):
        quotient = grad / y
        return -quotient * op._outputs[0], 0.5 * quotient


@rsqrt_grad.gradient
def _(op, grad):
    y, dy = op._inputs
    with _after(grad):
        return -1.5 * grad * dy * square(y), rsqrt_grad(y, grad)


@tanh_grad.gradient
def _(op, grad):
    y, dy = op._inputs
    with _after(grad):
        return grad * -2.0 * dy * y, tanh_grad(y, grad)


@sigmoid_grad.gradient
def _(op, grad):
    y, dy = op._inputs
    with _after(grad):
        product = grad * dy
        return product - 2.0 * product * y, sigmoid_grad(y, grad)


# ---- Values known while building --------------------------------------------------------------------------


_INTEGERS = (dtypes.int32, dtypes.int64)
ROUNDED_ALIKE = (dtypes.float32, dtypes.float64)  # numpy and the kernels round to the nearest


def _fold(function, types):
    def rule(context):
        value = context.value(0)
        if value is None or context.attrs["T"] not in types:
            return None
        with np.errstate(all="ignore"):
            return np.asarray(function(value))

    return rule


for _op, _function, _types in (
    (neg, np.negative, _INTEGERS), (abs, np.abs, _INTEGERS), (sign, np.sign, _INTEGERS),
    (square, np.square, _INTEGERS + ROUNDED_ALIKE), (sqrt, np.sqrt, ROUNDED_ALIKE),
    (floor, np.floor, ROUNDED_ALIKE), (ceil, np.ceil, ROUNDED_ALIKE),
    (round_op, np.rint, ROUNDED_ALIKE), (rint, np.rint, ROUNDED_ALIKE),
):  # fmt: skip
    _op.folded_value(_fold(_function, _types))

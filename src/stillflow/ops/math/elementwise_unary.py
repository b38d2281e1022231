"""Elementwise ops of one input: signs, roots, exponentials, trigonometry, roundings, and ops in their gradients."""

from __future__ import annotations

import math

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.registry import define_op
from stillflow.ops.sparse_tensor import of_sparse_values

_FLOATS = "bfloat16, float16, float32, float64"
_COMPLEX = "complex64, complex128"


def unchanged_shape(context):
    """The shape rule of ops whose output has the shape of their first input."""
    return context.shapes[0]


def _unary(name, types, elementwise, **options):
    op = define_op(f"{name}(x: T) -> (y: T)", f"T: {{{types}}}", elementwise=elementwise, **options)
    op.shape_rule(unchanged_shape)
    return op


def _test(name, elementwise, **options):
    op = define_op(
        f"{name}(x: T) -> (y: bool)", f"T: {{{_FLOATS}}}", elementwise=elementwise, differentiable=False, **options
    )
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

negative = of_sparse_values(_unary("Neg", _FLOATS_AND_INTS, "neg", public="negative math.negative neg", doc="-x."))
abs_op = _unary("Abs", f"{_FLOATS}, int8, int16, int32, int64", "abs")
sign = of_sparse_values(
    _unary(
        "Sign",
        _FLOATS_AND_INTS,
        "sign",
        public="sign math.sign",
        doc="-1, 0 or 1 as x is negative, zero (or NaN) or positive; x / |x| of complex numbers.",
    )
)
square = of_sparse_values(_unary("Square", _FLOATS_AND_INTS, "square", public="square math.square", doc="x * x."))
sqrt = of_sparse_values(_unary("Sqrt", _FLOATS_AND_COMPLEX, "sqrt", public="sqrt math.sqrt", doc="The square root."))
rsqrt = _unary("Rsqrt", _FLOATS_AND_COMPLEX, "rsqrt", public="rsqrt math.rsqrt", doc="1 / sqrt(x).")
reciprocal = _unary("Reciprocal", _FLOATS_AND_INTS, "reciprocal", public="reciprocal math.reciprocal", doc="1 / x.")
inv = _unary("Inv", _FLOATS_AND_INTS, "reciprocal")

exp = _unary("Exp", _FLOATS_AND_COMPLEX, "exp", public="exp math.exp", doc="e to the power x.")
expm1 = _unary("Expm1", _FLOATS_AND_COMPLEX, "expm1", public="expm1 math.expm1", doc="exp(x) - 1, precise near 0.")
log = _unary("Log", _FLOATS_AND_COMPLEX, "log", public="log math.log", doc="The natural logarithm.")
log1p = _unary("Log1p", _FLOATS_AND_COMPLEX, "log1p", public="log1p math.log1p", doc="log(1 + x), precise near 0.")
sigmoid = _unary(
    "Sigmoid", _FLOATS_AND_COMPLEX, "sigmoid", public="sigmoid math.sigmoid nn.sigmoid", doc="1 / (1 + exp(-x))."
)
tanh = of_sparse_values(
    _unary("Tanh", _FLOATS_AND_COMPLEX, "tanh", public="tanh math.tanh nn.tanh", doc="The hyperbolic tangent.")
)
sinh = _unary("Sinh", _FLOATS_AND_COMPLEX, "sinh", public="sinh math.sinh", doc="The hyperbolic sine.")
cosh = _unary("Cosh", _FLOATS_AND_COMPLEX, "cosh", public="cosh math.cosh", doc="The hyperbolic cosine.")
asinh = _unary("Asinh", _FLOATS_AND_COMPLEX, "asinh", public="asinh math.asinh", doc="The inverse of sinh.")
acosh = _unary("Acosh", _FLOATS_AND_COMPLEX, "acosh", public="acosh math.acosh", doc="The inverse of cosh.")
atanh = _unary("Atanh", _FLOATS_AND_COMPLEX, "atanh", public="atanh math.atanh", doc="The inverse of tanh.")

sin = _unary("Sin", _FLOATS_AND_COMPLEX, "sin", public="sin math.sin", doc="The sine of an angle in radians.")
cos = _unary("Cos", _FLOATS_AND_COMPLEX, "cos", public="cos math.cos", doc="The cosine of an angle in radians.")
tan = _unary("Tan", _FLOATS_AND_INTS, "tan", public="tan math.tan", doc="The tangent of an angle in radians.")
asin = _unary("Asin", _FLOATS_AND_INTS, "asin", public="asin math.asin", doc="The angle whose sine is x.")
acos = _unary("Acos", _FLOATS_AND_INTS, "acos", public="acos math.acos", doc="The angle whose cosine is x.")
atan = _unary("Atan", _FLOATS_AND_INTS, "atan", public="atan math.atan", doc="The angle whose tangent is x.")

erf = of_sparse_values(_unary("Erf", _FLOATS, "erf", public="erf math.erf", doc="The error function."))
erfc = _unary("Erfc", _FLOATS, "erfc", public="erfc math.erfc", doc="1 - erf(x).")
lgamma = _unary("Lgamma", _FLOATS, "lgamma", public="lgamma math.lgamma", doc="log(|gamma(x)|).")
digamma = _unary(
    "Digamma", _FLOATS, "digamma", public="digamma math.digamma", doc="The derivative of log(|gamma(x)|)."
)

floor = _unary(
    "Floor",
    _FLOATS,
    "floor",
    differentiable=False,
    public="floor math.floor",
    doc="The largest integer that is not above x.",
)
ceil = _unary(
    "Ceil",
    _FLOATS,
    "ceil",
    differentiable=False,
    public="ceil math.ceil",
    doc="The smallest integer that is not below x.",
)
round_op = _unary("Round", _FLOATS_AND_INTS, "rint", differentiable=False)
rint = _unary(
    "Rint",
    _FLOATS,
    "rint",
    differentiable=False,
    public="rint math.rint",
    doc="The nearest integer, halves to the even one.",
)
is_nan = _test("IsNan", "is_nan", public="is_nan debugging.is_nan math.is_nan", doc="Whether x is NaN.")
is_inf = _test("IsInf", "is_inf", public="is_inf debugging.is_inf math.is_inf", doc="Whether x is infinite.")
is_finite = _test(
    "IsFinite",
    "is_finite",
    public="is_finite debugging.is_finite math.is_finite",
    doc="Whether x is neither infinite nor NaN.",
)

reciprocal_grad = _gradient_of("ReciprocalGrad", "reciprocal_grad")
inv_grad = _gradient_of("InvGrad", "reciprocal_grad")
sqrt_grad = _gradient_of("SqrtGrad", "sqrt_grad")
rsqrt_grad = _gradient_of("RsqrtGrad", "rsqrt_grad")
tanh_grad = _gradient_of("TanhGrad", "tanh_grad")
sigmoid_grad = _gradient_of("SigmoidGrad", "sigmoid_grad")


@public("abs", "complex_abs", "math.abs")
@of_sparse_values
@dispatched
def abs(x, name=None):
    """Absolute values, elementwise.

    Args:
      x: a tensor or SparseTensor of numbers.
      name: a name for the operation.

    Returns:
      A tensor of the same type; for complex64 and complex128 magnitudes, as float32 and float64.
    """
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return ops.complex_abs(x, Tout=x.dtype.real_dtype, name=scope)
        return abs_op(x, name=scope)


@public("round", "math.round")
@dispatched
def round(x, name=None):
    """Rounds to the nearest integer, halves to the even one. Integers come back as they are."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else round_op(x, name=name)


@public("log_sigmoid", "math.log_sigmoid")
@dispatched
def log_sigmoid(x, name=None):
    """log(1 / (1 + exp(-x)))."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(ops.softplus(-x), name=scope)


# ---- Gradients --------------------------------------------------------------------------------------------


def _after(grad):
    """The scope of nodes that wait for the gradient, so that they do not take memory before it is there."""
    return get_default_graph().control_dependencies([grad])


@negative.gradient
def _(op, grad):
    return -grad


@abs_op.gradient
def _(op, grad):
    return grad * sign(op._inputs[0])


@sign.gradient
def _(op, grad):
    x = op._inputs[0]
    return ops.zeros(ops.shape(x), x.dtype)


@square.gradient
def _(op, grad):
    with _after(grad):
        x = ops.conj(op._inputs[0])
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
        return grad * ops.conj(op._outputs[0])


@expm1.gradient
def _(op, grad):
    with _after(grad):
        y = exp(ops.conj(op._inputs[0]))
        return grad * y


@log.gradient
def _(op, grad):
    with _after(grad):
        return grad * reciprocal(ops.conj(op._inputs[0]))


@log1p.gradient
def _(op, grad):
    with _after(grad):
        return grad * reciprocal(1 + ops.conj(op._inputs[0]))


@sigmoid.gradient
def _(op, grad):
    with _after(grad):
        return sigmoid_grad(ops.conj(op._outputs[0]), grad)


@tanh.gradient
def _(op, grad):
    with _after(grad):
        return tanh_grad(ops.conj(op._outputs[0]), grad)


@sinh.gradient
def _(op, grad):
    with _after(grad):
        return grad * cosh(ops.conj(op._inputs[0]))


@cosh.gradient
def _(op, grad):
    with _after(grad):
        return grad * sinh(ops.conj(op._inputs[0]))


@asinh.gradient
def _(op, grad):
    with _after(grad):
        return grad / cosh(ops.conj(op._outputs[0]))


@acosh.gradient
def _(op, grad):
    with _after(grad):
        return grad / sinh(ops.conj(op._outputs[0]))


@atanh.gradient
def _(op, grad):
    with _after(grad):
        squared = square(ops.conj(op._inputs[0]))
        one = ops.constant(1, dtype=grad.dtype)
        return grad * reciprocal(ops.sub(one, squared))


@sin.gradient
def _(op, grad):
    with _after(grad):
        return grad * cos(ops.conj(op._inputs[0]))


@cos.gradient
def _(op, grad):
    with _after(grad):
        x = ops.conj(op._inputs[0])
        return -grad * sin(x)


@tan.gradient
def _(op, grad):
    with _after(grad):
        secant = reciprocal(cos(ops.conj(op._inputs[0])))
        return square(secant) * grad


def _inverse_of_leg(op, grad):
    """1 / sqrt(1 - x^2)."""
    squared = square(ops.conj(op._inputs[0]))
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
        squared = square(ops.conj(op._inputs[0]))
        one = ops.constant(1, dtype=grad.dtype)
        return grad * reciprocal(ops.add(one, squared))


def _error_function_gradient(factor):
    def gradient(op, grad):
        factor_tensor = ops.constant(factor, dtype=grad.dtype)
        with _after(grad):
            return grad * factor_tensor * exp(-square(ops.conj(op._inputs[0])))

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
        y_conj = ops.conj(y)
        return ops.conj(grad) * -2.0 * dy * y_conj, reciprocal_grad(y_conj, grad)


@sqrt_grad.gradient
def _(op, grad):
    y = op._inputs[0]
    with _after(grad):
        quotient = grad / y
        return -ops.conj(quotient) * op._outputs[0], 0.5 * quotient


@rsqrt_grad.gradient
def _(op, grad):
    y, dy = op._inputs
    with _after(grad):
        y_conj = ops.conj(y)
        return -1.5 * ops.conj(grad) * dy * square(y_conj), rsqrt_grad(y_conj, grad)


@tanh_grad.gradient
def _(op, grad):
    with _after(grad):
        y, dy = (ops.conj(value) for value in op._inputs)
        return grad * -2.0 * dy * y, tanh_grad(y, grad)


@sigmoid_grad.gradient
def _(op, grad):
    with _after(grad):
        y, dy = (ops.conj(value) for value in op._inputs)
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
    (negative, np.negative, _INTEGERS), (abs_op, np.abs, _INTEGERS), (sign, np.sign, _INTEGERS),
    (square, np.square, _INTEGERS + ROUNDED_ALIKE), (sqrt, np.sqrt, ROUNDED_ALIKE),
    (floor, np.floor, ROUNDED_ALIKE), (ceil, np.ceil, ROUNDED_ALIKE),
    (round_op, np.rint, ROUNDED_ALIKE), (rint, np.rint, ROUNDED_ALIKE),
):  # fmt: skip
    _op.folded_value(_fold(_function, _types))

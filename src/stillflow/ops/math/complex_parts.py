"""Complex numbers and their parts: Complex, Real, Imag, Conj, Angle, ComplexAbs."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.dispatch import dispatched
from stillflow.ops.math.elementwise_binary import broadcast_rule
from stillflow.ops.math.elementwise_unary import unchanged_shape
from stillflow.ops.registry import define_op

_COMPLEX = "{complex64, complex128} = complex64"
_REAL = "{float32, float64} = float32"


def _part(name, elementwise, argument="input", result="output"):
    op = define_op(
        f"{name}({argument}: T) -> ({result}: Tout)", f"T: {_COMPLEX}; Tout: {_REAL}", elementwise=elementwise
    )
    op.shape_rule(unchanged_shape)
    return op


complex_op = define_op(
    "Complex(real: T, imag: T) -> (out: Tout)", f"T: {_REAL}; Tout: {_COMPLEX}", elementwise="complex"
)
real_op = _part("Real", "real")
imag_op = _part("Imag", "imag")
angle_op = _part("Angle", "angle")
complex_abs = _part("ComplexAbs", "complex_abs", "x", "y")
conj_op = define_op(
    "Conj(input: T) -> (output: T)", "T: {complex64, complex128, variant} = complex64", elementwise="conj"
)
complex_op.shape_rule(broadcast_rule)
conj_op.shape_rule(unchanged_shape)


@public("complex", "dtypes.complex")
@dispatched
def complex(real, imag, name=None):
    """The complex numbers real + i imag.

    Args:
      real: real parts, of float32 or float64.
      imag: imaginary parts of the same type; shapes are broadcast.

    Returns:
      A tensor of complex64 or complex128. Raises TypeError for parts of other or of different types.
    """
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    with name_scope(name, "Complex", [real, imag]) as scope:
        of_parts = {dtypes.float32: dtypes.complex64, dtypes.float64: dtypes.complex128}
        dtype = of_parts.get(real.dtype) if real.dtype == imag.dtype else None
        if dtype is None:
            raise TypeError(f"real and imag have incorrect types: {real.dtype.name} {imag.dtype.name}")
        return complex_op(real, imag, Tout=dtype, name=scope)


@public("real", "math.real")
@dispatched
def real(input, name=None):
    """The real parts, as float32 or float64; real tensors come back as they are."""
    with name_scope(name, "Real", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        return real_op(input, Tout=input.dtype.real_dtype, name=scope) if input.dtype.is_complex else input


@public("imag", "math.imag")
@dispatched
def imag(input, name=None):
    """The imaginary parts, as float32 or float64; zeros of real tensors."""
    with name_scope(name, "Imag", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return imag_op(input, Tout=input.dtype.real_dtype, name=scope)
        return ops.zeros_like(input)


@public("angle", "math.angle")
@dispatched
def angle(input, name=None):
    """The angles between -pi and pi, as float32 or float64; zeros of real tensors, negative ones too."""
    with name_scope(name, "Angle", [input]) as scope:
        input = convert_to_tensor(input, name="input")
        if input.dtype.is_complex:
            return angle_op(input, Tout=input.dtype.real_dtype, name=scope)
        return ops.zeros_like(input)


@public("conj", "math.conj")
@dispatched
def conj(x, name=None):
    """The complex conjugate; real numbers come back as they are. Raises TypeError for text and booleans."""
    if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
        return x
    with name_scope(name, "Conj", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex or x.dtype.base_dtype is dtypes.variant:
            return conj_op(x, name=scope)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


# ---- Gradients --------------------------------------------------------------------------------------------


@complex_op.gradient
def _(op, grad):
    x, y = op._inputs
    x_shape, y_shape = ops.shape(x), ops.shape(y)
    x_axes, y_axes = ops.broadcast_gradient_args(x_shape, y_shape)
    x_grad = ops.reshape(ops.reduce_sum(real(grad), x_axes), x_shape)
    return x_grad, ops.reshape(ops.reduce_sum(imag(grad), y_axes), y_shape)


@real_op.gradient
def _(op, grad):
    zero = ops.constant(0, dtype=grad.dtype)
    return complex(grad, zero)


@imag_op.gradient
def _(op, grad):
    zero = ops.constant(0, dtype=grad.dtype)
    return complex(zero, grad)


@angle_op.gradient
def _(op, grad):
    x = op._inputs[0]
    with get_default_graph().control_dependencies([grad]):
        re = real(x)
        im = imag(x)
        inverse = ops.reciprocal(complex(im, re))
        zero = ops.constant(0, dtype=grad.dtype)
        complex_grad = complex(grad, zero)
        return -complex_grad * inverse


@conj_op.gradient
def _(op, grad):
    return conj(grad)


@complex_abs.gradient
def _(op, grad):
    y = op._outputs[0]
    return ops.div_no_nan(complex(grad, ops.zeros_like(grad)) * op._inputs[0], complex(y, ops.zeros_like(y)))

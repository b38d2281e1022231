"""Elementwise ops of two broadcast inputs: arithmetic, extrema, powers."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.operation import Tensor
from stillflow.graph.recording import unwanted_inputs
from stillflow.graph.shape_inference import ShapeError
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.ops.math.elementwise_unary import ROUNDED_ALIKE
from stillflow.ops.registry import define_op

_REAL_AND_COMPLEX = (
    "bfloat16, float16, float32, float64, uint8, int8, uint16, int16, int32, int64, complex64, complex128"
)
_FLOATS_AND_INTS = "bfloat16, float16, float32, float64, int32, int64"
_NO_NAN_TYPES = "float16, float32, float64, complex64, complex128"


def _binary(name, types, elementwise, **options):
    return define_op(f"{name}(x: T, y: T) -> (z: T)", f"T: {{{types}}}", elementwise=elementwise, **options)


add = _binary(
    "Add",
    "bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, complex64, complex128, string",
    "add",
    kernel="string_add(x, y)",
    public="add math.add",
    doc="x + y, of numbers or strings.",
)
add_v2 = _binary(
    "AddV2",
    "bfloat16, float16, float32, float64, uint8, int8, int16, int32, int64, complex64, complex128",
    "add",
    commutative=True,
)
sub = _binary("Sub", _REAL_AND_COMPLEX, "sub", public="subtract math.subtract sub", doc="x - y.")
mul = _binary("Mul", _REAL_AND_COMPLEX, "mul", commutative=True, public="multiply math.multiply mul", doc="x * y.")
div_op = _binary("Div", _REAL_AND_COMPLEX, "div")
real_div = _binary("RealDiv", _REAL_AND_COMPLEX, "div", public="realdiv", doc="x / y, of floats.")
truncate_div = _binary(
    "TruncateDiv",
    _REAL_AND_COMPLEX,
    "truncate_div",
    differentiable=False,
    public="truncatediv",
    doc="x / y, rounded towards zero.",
)
floor_div = _binary(
    "FloorDiv", _REAL_AND_COMPLEX, "floor_div", differentiable=False, public="floor_div", doc="x // y, rounded down."
)
mod = _binary(
    "Mod", "int32, int64, float16, float16, bfloat16, float32, float64", "truncate_mod", differentiable=None
)
floor_mod = _binary(
    "FloorMod",
    "int32, int64, bfloat16, float16, float32, float64",
    "floor_mod",
    public="floormod mod math.floormod math.mod",
    doc="What is left of x divided by y rounding down; of the sign of y.",
)
truncate_mod = _binary(
    "TruncateMod",
    "int32, int64, bfloat16, float16, float32, float64",
    "truncate_mod",
    differentiable=None,
    public="truncatemod",
    doc="What is left of x divided by y rounding towards zero; of the sign of x.",
)
div_no_nan_op = _binary("DivNoNan", _NO_NAN_TYPES, "div_no_nan")
mul_no_nan = _binary("MulNoNan", _NO_NAN_TYPES, "mul_no_nan")
maximum = _binary(
    "Maximum",
    _FLOATS_AND_INTS,
    "maximum",
    public="maximum math.maximum",
    doc="The larger one, elementwise; x where either is NaN.",
)
minimum = _binary(
    "Minimum",
    _FLOATS_AND_INTS,
    "minimum",
    public="minimum math.minimum",
    doc="The smaller one, elementwise; x where either is NaN.",
)
squared_difference = _binary(
    "SquaredDifference",
    "bfloat16, float16, float32, float64, int32, int64, complex64, complex128",
    "squared_difference",
    commutative=True,
    public="squared_difference math.squared_difference",
    doc="(x - y) * (x - y).",
)
pow = _binary(
    "Pow",
    "bfloat16, float32, float16, float64, int32, int64, complex64, complex128",
    "pow",
    public="pow math.pow",
    doc="x to the power y.",
)
xdivy = _binary("Xdivy", _NO_NAN_TYPES, "xdivy", public="math.xdivy", doc="x / y, and 0 where x is 0.")
xlogy = _binary("Xlogy", _NO_NAN_TYPES, "xlogy", public="math.xlogy", doc="x * log(y), and 0 where x is 0.")
atan2 = define_op(
    "Atan2(y: T, x: T) -> (z: T)",
    "T: {bfloat16, float16, float32, float64}",
    elementwise="atan2",
    public="atan2 math.atan2",
    doc="The angle of the point (x, y), between -pi and pi.",
)
next_after = define_op(
    "NextAfter(x1: T, x2: T) -> (output: T)",
    "T: {float64, float32} = float32",
    elementwise="next_after",
    public="math.nextafter",
    doc="The number of the type that is next to x1 on the way to x2.",
)

_ALL = (
    add, add_v2, sub, mul, div_op, real_div, truncate_div, floor_div, mod, floor_mod, truncate_mod, div_no_nan_op,
    mul_no_nan, maximum, minimum, squared_difference, pow, xdivy, xlogy, atan2,
    next_after,
)  # fmt: skip


def broadcast(a, b):
    """The plain shape of two plain shapes broadcast against each other. Raises ShapeError."""
    if a is None or b is None:
        return None
    longer, shorter = (a, b) if len(a) >= len(b) else (b, a)
    result = list(longer)
    offset = len(longer) - len(shorter)
    for i, y in enumerate(shorter):
        x = longer[offset + i]
        if x == y or y == 1:
            continue
        if x == 1:
            result[offset + i] = y
        elif x is None or y is None:
            # Whichever is known and not 1 must be the result; that of no element too, but TensorFlow does not say so.
            result[offset + i] = (x if y is None else y) or None
        else:
            first, second = (x, y) if len(a) >= len(b) else (y, x)
            raise ShapeError(f"Dimensions must be equal, but are {first} and {second}")
    return tuple(result)


def broadcast_rule(context):
    """The shape rule of elementwise ops with two inputs."""
    return broadcast(*context.shapes)


for _op in _ALL:
    _op.shape_rule(broadcast_rule)


def _fold(function, floats=()):
    def rule(context):
        x, y = context.value(0), context.value(1)
        dtype = context.attrs["T"]
        if x is None or y is None or not (dtype.is_integer or dtype in floats):
            return None
        with np.errstate(all="ignore"):
            return np.asarray(function(x, y), x.dtype)

    return rule


for _op, _function, _floats in (
    (add, np.add, ROUNDED_ALIKE), (add_v2, np.add, ROUNDED_ALIKE), (sub, np.subtract, ROUNDED_ALIKE),
    (mul, np.multiply, ROUNDED_ALIKE), (maximum, np.maximum, ()), (minimum, np.minimum, ()), (pow, np.power, ()),
):  # fmt: skip
    _op.folded_value(_fold(_function, _floats))


def _fold_division(function):
    fold = _fold(function)
    return lambda context: None if context.value(1) is None or np.any(context.value(1) == 0) else fold(context)


floor_div.folded_value(_fold_division(np.floor_divide))
floor_mod.folded_value(_fold_division(np.mod))


@real_div.folded_value
def _(context):
    return None if context.attrs["T"].is_integer else _fold(np.divide, ROUNDED_ALIKE)(context)


# ---- Gradients --------------------------------------------------------------------------------------------


class _Sides:
    """How the gradient of a broadcast result becomes those of its inputs: summed over what was repeated."""

    def __init__(self, op, grad):
        x, y = op._inputs
        unwanted = unwanted_inputs(op)
        self.wants_x, self.wants_y = 0 not in unwanted, 1 not in unwanted
        self.reduces_x = self.reduces_y = True
        if not isinstance(grad, Tensor):  # IndexedSlices, which become dense where an op takes them
            self.x_shape, self.y_shape = ops.shape(x), ops.shape(y)
            self.x_axes, self.y_axes = ops.broadcast_gradient_args(self.x_shape, self.y_shape)
            return
        self.x_shape, self.y_shape, self.x_axes, self.y_axes = _broadcast_gradient_args(x, y)
        if isinstance(self.x_shape, tuple):
            self.reduces_x = x._dims != grad._dims
            self.reduces_y = y._dims != grad._dims

    def x(self, grad):
        """The gradient by x, None if nobody wants it; `grad()` makes that of the result, as far as it goes to x."""
        if not self.wants_x:
            return None
        return ops.reshape(ops.reduce_sum(grad(), self.x_axes), self.x_shape) if self.reduces_x else grad()

    def y(self, grad):
        """The same by y."""
        if not self.wants_y:
            return None
        return ops.reshape(ops.reduce_sum(grad(), self.y_axes), self.y_shape) if self.reduces_y else grad()


def _is_by_x_alone(op):
    """Whether y is a scalar by which nobody wants the gradient: that by x is then as large as that of the result."""
    return op._inputs[1]._dims == () and 1 in unwanted_inputs(op)


def _is_known(dims):
    return dims is not None and None not in dims


def _broadcast_gradient_args(x, y):
    """Shapes of x and y and the axes to sum over: tuples if the shapes are known, else tensors."""
    if not _is_known(x._dims) or not _is_known(y._dims):
        x_shape, y_shape = ops.shape_internal(x, optimize=False), ops.shape_internal(y, optimize=False)
        return x_shape, y_shape, *ops.broadcast_gradient_args(x_shape, y_shape)
    cache = get_default_graph().__dict__.setdefault("_broadcast_axes", {})
    key = x._dims, y._dims
    if key not in cache:
        # TensorFlow adds this node to look at its value, once for each pair of shapes.
        ops.broadcast_gradient_args(x._dims, y._dims)
        cache[key] = repeated_axes(*key)
    return x._dims, y._dims, *cache[key]


def repeated_axes(x, y):
    """For two known shapes the axes of the broadcast result over which a gradient is summed for each."""
    if tuple(x) == tuple(y):
        return (), ()
    rank = max(len(x), len(y))
    padded = ((1,) * (rank - len(dims)) + tuple(dims) for dims in (x, y))
    return tuple(tuple(i for i in range(rank) if dims[i] == 1) for dims in padded)


def _are_equal_and_known(x, y, grad):
    return isinstance(grad, Tensor) and x._dims == y._dims == grad._dims and _is_known(x._dims)


@add.gradient
@add_v2.gradient
def _(op, grad):
    if _is_by_x_alone(op):
        return grad, None
    x, y = op._inputs
    if _are_equal_and_known(x, y, grad):
        return grad, grad
    sides = _Sides(op, grad)
    return sides.x(lambda: grad), sides.y(lambda: grad)


@sub.gradient
def _(op, grad):
    if _is_by_x_alone(op):
        return grad, None
    x, y = op._inputs
    if _are_equal_and_known(x, y, grad):
        return grad, -grad
    sides = _Sides(op, grad)
    return sides.x(lambda: grad), sides.y(lambda: -grad)


@mul.gradient
def _(op, grad):
    x, y = op._inputs
    if _is_by_x_alone(op):
        return mul(grad, ops.conj(y)), None
    if _are_equal_and_known(x, y, grad) and grad.dtype in (dtypes.int32, dtypes.float32):
        return mul(grad, y), mul(grad, x)
    sides = _Sides(op, grad)
    x, y = ops.conj(x), ops.conj(y)
    x_grad = sides.x(lambda: mul(grad, y))
    return x_grad, sides.y(lambda: mul(x, grad))


@mul_no_nan.gradient
def _(op, grad):
    x, y = op._inputs
    if _are_equal_and_known(x, y, grad):
        return mul_no_nan(grad, y), mul_no_nan(x, grad)
    sides = _DynamicSides(x, y)
    x_grad = sides.x(mul_no_nan(grad, y))
    return x_grad, sides.y(mul_no_nan(x, grad))


class _DynamicSides:
    """Like _Sides for the ops whose gradients ask for the shapes whatever is known of them."""

    def __init__(self, x, y):
        self.x_shape, self.y_shape = ops.shape(x), ops.shape(y)
        self.x_axes, self.y_axes = ops.broadcast_gradient_args(self.x_shape, self.y_shape)

    def x(self, grad):
        return ops.reshape(ops.reduce_sum(grad, self.x_axes), self.x_shape)

    def y(self, grad):
        return ops.reshape(ops.reduce_sum(grad, self.y_axes), self.y_shape)


def _quotient_gradient(divide):
    def gradient(op, grad):
        x, y = op._inputs
        sides = _DynamicSides(x, y)
        x, y = ops.conj(x), ops.conj(y)
        x_grad = sides.x(divide(grad, y))
        return x_grad, sides.y(grad * divide(divide(-x, y), y))

    return gradient


div_op.gradient(_quotient_gradient(lambda x, y: ops.divide(x, y)))
real_div.gradient(_quotient_gradient(real_div))
div_no_nan_op.gradient(_quotient_gradient(lambda x, y: ops.div_no_nan(x, y)))


@floor_mod.gradient
def _(op, grad):
    x, y = op._inputs
    sides = _DynamicSides(x, y)
    quotient = floor_div(x, y)
    x_grad = sides.x(grad)
    return x_grad, sides.y(grad * ops.negative(quotient))


@pow.gradient
def _(op, grad):
    x, y = op._inputs
    if _is_by_x_alone(op):
        x, y = ops.conj(x), ops.conj(y)
        return grad * y * ops.pow(x, y - 1), None
    sides = _Sides(op, grad)
    x, y = ops.conj(x), ops.conj(y)
    x_grad = sides.x(lambda: grad * y * ops.pow(x, y - 1))
    return x_grad, sides.y(lambda: _gradient_by_exponent(op, x, grad))


def _gradient_by_exponent(op, x, grad):
    z = ops.conj(op._outputs[0])
    # log(x) has no useful value at x <= 0, where the power does not depend on y.
    mask = ops.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe_x = ops.where(mask, x, ops.ones_like(x))
    log_x = ops.where(mask, ops.log(safe_x), ops.zeros_like(x))
    return grad * z * log_x


def _extremum_gradient(selects):
    def gradient(op, grad):
        x, y = op._inputs
        if _is_by_x_alone(op):
            zeros = ops.zeros_like(grad)
            return ops.where(selects(x, y), grad, zeros), None
        unwanted = unwanted_inputs(op)
        x_shape, y_shape, grad_shape = ops.shape(x), ops.shape(y), ops.shape(grad)
        zeros = ops.zeros(grad_shape, grad.dtype)
        mask = selects(x, y)
        x_axes, y_axes = ops.broadcast_gradient_args(x_shape, y_shape)
        x_grad = y_grad = None
        if 0 not in unwanted:
            x_grad = ops.reshape(ops.reduce_sum(ops.where(mask, grad, zeros), x_axes), x_shape)
        if 1 not in unwanted:
            y_grad = ops.reshape(ops.reduce_sum(ops.where(mask, zeros, grad), y_axes), y_shape)
        return x_grad, y_grad

    return gradient


maximum.gradient(_extremum_gradient(lambda x, y: ops.greater_equal(x, y)))
minimum.gradient(_extremum_gradient(lambda x, y: ops.less_equal(x, y)))


@squared_difference.gradient
def _(op, grad):
    x, y = op._inputs
    with get_default_graph().control_dependencies([grad]):
        # Made after the gradient is there, to keep it out of memory until then.
        whole = ops.scalar_mul(2.0, grad) * (x - y)
    if _are_equal_and_known(x, y, grad):
        return whole, -whole
    sides = _Sides(op, grad)
    x_grad, y_grad = sides.x(lambda: whole), sides.y(lambda: whole)
    return x_grad, None if y_grad is None else -y_grad


@atan2.gradient
def _(op, grad):
    y, x = op._inputs
    with get_default_graph().control_dependencies([grad]):
        factor = grad / (ops.square(x) + ops.square(y))
        return x * factor, -y * factor


@next_after.gradient
def _(op, grad):
    x, y = op._inputs
    sides = _DynamicSides(x, y)
    with get_default_graph().control_dependencies([grad]):
        x_partial = ops.ones(sides.x_shape, x.dtype)
        y_partial = ops.zeros(sides.y_shape, y.dtype)
        x_grad = sides.x(x_partial * grad)
        return x_grad, sides.y(y_partial * grad)


def _gradient_with_zero_factor(partials):
    """Of ops that are 0 where x is 0; `partials(x, 1 where x is not 0, y)` are their derivatives."""

    def gradient(op, grad):
        x, y = op._inputs
        sides = _DynamicSides(x, y)
        with get_default_graph().control_dependencies([grad]):
            is_not_zero = ops.cast(ops.not_equal(x, ops.cast(0.0, x.dtype)), x.dtype)
            x_partial, y_partial = partials(x, is_not_zero, y)
            x_grad = sides.x(x_partial * grad)
            return x_grad, sides.y(y_partial * grad)

    return gradient


xlogy.gradient(_gradient_with_zero_factor(lambda x, is_not_zero, y: (xlogy(is_not_zero, y), xdivy(x, y))))
xdivy.gradient(
    _gradient_with_zero_factor(lambda x, is_not_zero, y: (xdivy(is_not_zero, y), xdivy(ops.negative(x), y**2)))
)


# ---- Functions --------------------------------------------------------------------------------------------


@public("scalar_mul", "math.scalar_mul")
def scalar_mul(scalar, x, name=None):
    """A tensor or IndexedSlices times a scalar of the same type. Raises ValueError if `scalar` is none."""
    scalar = convert_to_tensor(scalar, dtype=x.dtype.base_dtype, name="scalar")
    if scalar._dims != ():
        raise ValueError(f"Only scalar multiply works, got shape {scalar.shape}")
    if isinstance(x, IndexedSlices):
        return IndexedSlices(mul(scalar, x.values, name=name), x.indices, x.dense_shape)
    return mul(scalar, x, name=name)

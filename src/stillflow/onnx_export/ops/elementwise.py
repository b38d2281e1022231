"""Elementwise ops: arithmetic, comparisons, activations, casts, and choices."""

from __future__ import annotations

import numpy as np

from stillflow.onnx_export.ranges import range_of
from stillflow.onnx_export.translation import HANDED_ON, NEEDS, Call, converts

# Ops that ONNX has, too: its name where it is another.
_SAME = {
    **{
        name: name
        for name in ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Ceil", "Cos", "Cosh", "Elu")
    },
    **{name: name for name in ("Erf", "Exp", "Log", "Neg", "Reciprocal", "Relu", "Round", "Sigmoid", "Sign", "Sin")},
    **{name: name for name in ("Sinh", "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "Add", "Sub", "Mul", "Pow")},
    **{name: name for name in ("Equal", "Greater")},
    "AddV2": "Add",
    "Div": "Div",
    "Inv": "Reciprocal",
    "IsInf": "IsInf",
    "IsNan": "IsNaN",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalNot": "Not",
    "LogicalOr": "Or",
    "Maximum": "Max",
    "Minimum": "Min",
    "RealDiv": "Div",
    "Rint": "Round",
    "TruncateDiv": "Div",
}


# Ops that hand on what they read.
_AS_IS = ("CheckNumerics", "DeepCopy", "EnsureShape", "GuaranteeConst", "IdentityN", "PlaceholderWithDefault")


@converts(*_SAME)
def same(call: Call):
    return call.add(_SAME[call.op.type], *call.inputs)


@converts(*HANDED_ON, *_AS_IS, "LoopCond", "NextIteration", "PreventGradient")
def handed_on(call):
    return call.inputs


# ---- Random numbers that cannot matter: dropout that keeps everything ----------------------------------------------


def _decided(translation, op):
    """The result of a comparison of random numbers with a bound that they cannot cross, or of their floor if all have
    the same; else None."""
    low, high = range_of(op.inputs[0])
    if op.type == "Floor":
        return low if np.isfinite(low) and low == np.floor(low) and high <= low + 1 else None
    bound = translation.value_of(op.inputs[1])
    if bound is None or np.size(bound) != 1 or not (low >= bound or high <= bound):
        return None
    return bool((low >= bound) == (op.type == "GreaterEqual"))


def _needs_of_decided(translation, tensor):
    return [] if _decided(translation, tensor.op) is not None else list(tensor.op.inputs)


_COMPARED = {"Floor": "Floor", "GreaterEqual": "GreaterOrEqual", "Less": "Less"}
NEEDS.update(dict.fromkeys(_COMPARED, _needs_of_decided))


@converts(*_COMPARED)
def compared(call):
    decided = _decided(call.translation, call.op)
    if decided is not None:
        return call.constant(decided, call.op.outputs[0].dtype.as_numpy_dtype)
    return call.add(_COMPARED[call.op.type], *call.inputs)


@converts("NotEqual")
def _not_equal(call):
    return call.add("Not", call.add("Equal", *call.inputs))


@converts("LogicalXor")
def _logical_xor(call):
    return call.add("Xor", *call.inputs)


@converts("IsFinite")
def _is_finite(call):
    return call.add("Not", call.add("Or", call.add("IsNaN", *call.inputs), call.add("IsInf", *call.inputs)))


@converts("Rsqrt")
def _rsqrt(call):
    return call.add("Reciprocal", call.add("Sqrt", *call.inputs))


@converts("Square")
def _square(call):
    return call.add("Mul", call.inputs[0], call.inputs[0])


@converts("SquaredDifference")
def _squared_difference(call):
    difference = call.add("Sub", *call.inputs)
    return call.add("Mul", difference, difference)


@converts("Log1p")
def _log1p(call):
    return call.add("Log", call.add("Add", call.inputs[0], call.like(1)))


@converts("Expm1")
def _expm1(call):
    return call.add("Sub", call.add("Exp", call.inputs[0]), call.like(1))


@converts("Erfc")
def _erfc(call):
    return call.add("Sub", call.like(1), call.add("Erf", call.inputs[0]))


@converts("Relu6")
def _relu6(call):
    return call.add("Clip", call.inputs[0], call.like(0), call.like(6))


@converts("LeakyRelu")
def _leaky_relu(call):
    return call.add("LeakyRelu", call.inputs[0], alpha=call.attr("alpha"))


@converts("Selu")
def _selu(call):
    return call.add("Selu", call.inputs[0], alpha=1.6732632423543772, gamma=1.0507009873554805)


@converts("ClipByValue")
def _clip_by_value(call):
    value, least, most = call.inputs
    return call.add("Max", call.add("Min", value, most), least)


@converts("ApproximateEqual")
def _approximate_equal(call):
    distance = call.add("Abs", call.add("Sub", *call.inputs))
    return call.add("Less", distance, call.like(call.attr("tolerance")))


@converts("FloorDiv")
def _floor_div(call):
    a, b = call.inputs
    if call.dtype().is_floating:
        return call.add("Floor", call.add("Div", a, b))
    return call.add("Div", call.add("Sub", a, call.add("Mod", a, b)), b)


@converts("FloorMod")
def _floor_mod(call):
    a, b = call.inputs
    if call.dtype().is_floating:
        return call.add("Sub", a, call.add("Mul", call.add("Floor", call.add("Div", a, b)), b))
    return call.add("Mod", a, b)


@converts("Mod", "TruncateMod")
def _truncate_mod(call):
    return call.add("Mod", *call.inputs, fmod=1)


@converts("DivNoNan")
def _div_no_nan(call):
    is_zero = call.add("Equal", call.inputs[1], call.like(0))
    return call.add("Where", is_zero, call.like(0), call.add("Div", *call.inputs))


@converts("Atan2")
def atan2(call):
    """The angle of (x, y): arctan(y / x), turned by half a circle where x is negative."""
    y, x = call.inputs
    is_left = call.add("Less", x, call.like(0))
    is_below = call.add("Less", y, call.like(0))
    turn = call.add("Where", is_below, call.like(-np.pi), call.like(np.pi))
    angle = call.add("Atan", call.add("Div", y, x))
    angle = call.add("Add", angle, call.add("Where", is_left, turn, call.like(0)))
    vertical = call.add("Mul", call.add("Sign", y), call.like(np.pi / 2))
    return call.add("Where", call.add("Equal", x, call.like(0)), vertical, angle)


@converts("AccumulateNV2", "AddN")
def _add_n(call):
    if call.dtype().is_floating:
        return call.add("Sum", *call.inputs)
    total = call.inputs[0]
    for value in call.inputs[1:]:
        total = call.add("Add", total, value)
    return total


@converts("BiasAdd", "BiasAddV1")
def _bias_add(call):
    bias = call.inputs[1]
    if call.op.type == "BiasAdd" and call.attr("data_format") == "NCHW":
        axes = call.ints(*range(1, len(call.dims()) - 1))
        bias = call.add("Unsqueeze", bias, axes)
    return call.add("Add", call.inputs[0], bias)


@converts("ZerosLike", "OnesLike")
def _like(call):
    from onnx import numpy_helper

    if call.dtype().name == "variant":
        raise call.error("makes lists of zeros, as gradients of loops do")
    value = np.full(1, call.op.type == "OnesLike", call.dtype().base_dtype.as_numpy_dtype)
    return call.add("ConstantOfShape", call.add("Shape", call.inputs[0]), value=numpy_helper.from_array(value))


@converts("Cast")
def _cast(call):
    return call.to_type_of(call.inputs[0], call.op.outputs[0].dtype)


@converts("Select", "SelectV2")
def _select(call):
    condition, *branches = call.inputs
    ranks = [value.shape.ndims for value in call.op.inputs[:2]]
    if call.op.type == "Select" and ranks[0] != 0 and (None in ranks or ranks[0] != ranks[1]):
        # A condition for each row: ones behind its size.
        sizes, given = call.add("Shape", branches[0]), call.add("Shape", condition)
        missing = call.add("Sub", call.add("Shape", sizes), call.add("Shape", given))
        ones = call.add("Expand", call.ints(1), missing)
        condition = call.add("Reshape", condition, call.add("Concat", given, ones, axis=0))
    return call.choose(condition, *branches, call.dtype(1))

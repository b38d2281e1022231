"""Elementwise operations, matrix products, choices."""

from __future__ import annotations

import numpy as np

from stillflow.conversion.onnx_graph import converts
from stillflow.graph import dtypes
from stillflow.inspection.sources import InputError

_SAME = (
    "Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Elu Erf Exp Floor Log Neg Reciprocal Relu Selu Sigmoid Sign "
    "Sin Sinh Softplus Softsign Sqrt Tan Tanh"
)
_RENAMED = {
    "LogicalNot": "Not",
    "IsNan": "IsNaN",
    "IsInf": "IsInf",
    "Rint": "Round",
    "Round": "Round",
    "Inv": "Reciprocal",
}
_PAIRS = {
    "Add": "Add", "AddV2": "Add", "Sub": "Sub", "Mul": "Mul", "RealDiv": "Div", "Div": "Div", "TruncateDiv": "Div",
    "Pow": "Pow", "Equal": "Equal", "Less": "Less", "LessEqual": "LessOrEqual", "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual", "LogicalAnd": "And", "LogicalOr": "Or", "Maximum": "Max", "Minimum": "Min",
}  # fmt: skip


@converts(*_SAME.split(), *_RENAMED)
def _elementwise(made, operation):
    return made.node(_RENAMED.get(operation.type, operation.type), made.inputs(operation))


@converts(*_PAIRS)
def _pair(made, operation):
    return made.node(_PAIRS[operation.type], made.inputs(operation))


def _number(made, operation, value):
    """A constant of the type of the first input."""
    return made.constant(np.array(value, operation.inputs[0].dtype.as_numpy_dtype))


@converts("Rsqrt")
def _rsqrt(made, operation):
    return made.node("Reciprocal", [made.node("Sqrt", made.inputs(operation))])


@converts("Square")
def _square(made, operation):
    return made.node("Mul", made.inputs(operation) * 2)


@converts("Relu6")
def _relu6(made, operation):
    return made.node("Clip", [made.input(operation, 0), _number(made, operation, 0), _number(made, operation, 6)])


@converts("ClipByValue")
def _clip(made, operation):
    return made.node("Min", [made.node("Max", made.inputs(operation)[:2]), made.input(operation, 2)])


@converts("LeakyRelu")
def _leaky_relu(made, operation):
    return made.node("LeakyRelu", made.inputs(operation), alpha=operation.get_attr("alpha"))


@converts("Log1p")
def _log1p(made, operation):
    return made.node("Log", [made.node("Add", [made.input(operation, 0), _number(made, operation, 1)])])


@converts("Expm1")
def _expm1(made, operation):
    return made.node("Sub", [made.node("Exp", made.inputs(operation)), _number(made, operation, 1)])


@converts("Erfc")
def _erfc(made, operation):
    return made.node("Sub", [_number(made, operation, 1), made.node("Erf", made.inputs(operation))])


@converts("NotEqual")
def _not_equal(made, operation):
    return made.node("Not", [made.node("Equal", made.inputs(operation))])


@converts("LogicalXor")
def _xor(made, operation):
    return made.node("Xor", made.inputs(operation))


@converts("IsFinite")
def _is_finite(made, operation):
    is_nan, is_inf = (made.node(kind, made.inputs(operation)) for kind in ("IsNaN", "IsInf"))
    return made.node("Not", [made.node("Or", [is_nan, is_inf])])


@converts("SquaredDifference")
def _squared_difference(made, operation):
    difference = made.node("Sub", made.inputs(operation))
    return made.node("Mul", [difference, difference])


@converts("FloorDiv")
def _floor_div(made, operation):
    x, y = made.inputs(operation)
    if operation.inputs[0].dtype.is_floating:
        return made.node("Floor", [made.node("Div", [x, y])])
    return made.node("Div", [made.node("Sub", [x, made.node("Mod", [x, y])]), y])


@converts("FloorMod")
def _floor_mod(made, operation):
    x, y = made.inputs(operation)
    if not operation.inputs[0].dtype.is_floating:
        return made.node("Mod", [x, y])
    whole = made.node("Mul", [made.node("Floor", [made.node("Div", [x, y])]), y])
    return made.node("Sub", [x, whole])


@converts("Mod", "TruncateMod")
def _mod(made, operation):
    return made.node("Mod", made.inputs(operation), fmod=1)


@converts("DivNoNan")
def _div_no_nan(made, operation):
    x, y = made.inputs(operation)
    zero, one = _number(made, operation, 0), _number(made, operation, 1)
    is_zero = made.node("Equal", [y, zero])
    return made.node("Where", [is_zero, zero, made.node("Div", [x, made.node("Where", [is_zero, one, y])])])


@converts("AddN")
def _add_n(made, operation):
    return made.node("Sum", made.inputs(operation))


@converts("BiasAdd", "BiasAddV1")
def _bias_add(made, operation):
    x, bias = made.inputs(operation)
    if operation.type == "BiasAdd" and operation.get_attr("data_format") == b"NCHW":
        rank = len(made.dims(operation.inputs[0], "to add a bias to channels"))
        bias = made.unsqueeze(bias, range(1, rank - 1))
    return made.node("Add", [x, bias])


@converts("Select", "SelectV2")
def _select(made, operation):
    condition, *values = made.inputs(operation)
    if operation.type == "Select":
        rank = len(made.dims(operation.inputs[0], "to choose between values"))
        rank_of_values = len(made.dims(operation.inputs[1], "to choose between values"))
        if rank == 1 and rank_of_values > 1:
            condition = made.unsqueeze(condition, range(1, rank_of_values))
    return made.node("Where", [condition, *values])


@converts("MatMul")
def _matmul(made, operation):
    return _product(made, operation, operation.get_attr("transpose_a"), operation.get_attr("transpose_b"))


@converts("BatchMatMul", "BatchMatMulV2")
def _batch_matmul(made, operation):
    if operation.inputs[0].dtype.is_complex:
        raise InputError(f"{operation.name}: ONNX has no products of complex numbers.")
    return _product(made, operation, operation.get_attr("adj_x"), operation.get_attr("adj_y"))


def _product(made, operation, *transposes):
    names = made.inputs(operation)
    for index, is_transposed in enumerate(transposes):
        if is_transposed:
            rank = len(made.dims(operation.inputs[index], "to transpose it"))
            names[index] = made.transpose(names[index], [*range(rank - 2), rank - 1, rank - 2])
    return made.node("MatMul", names)


@converts("Softmax", "LogSoftmax")
def _softmax(made, operation):
    return made.node(operation.type, made.inputs(operation), axis=-1)


@converts("L2Loss")
def _l2_loss(made, operation):
    total = made.node("ReduceSumSquare", made.inputs(operation), keepdims=0)
    return made.node("Mul", [total, _number(made, operation, 0.5)])


@converts("Cumsum")
def _cumsum(made, operation):
    axis = made.constant(np.array(made.value(operation, 1), np.int64))
    exclusive, reverse = int(operation.get_attr("exclusive")), int(operation.get_attr("reverse"))
    return made.node("CumSum", [made.input(operation, 0), axis], exclusive=exclusive, reverse=reverse)


@converts("SparseSoftmaxCrossEntropyWithLogits")
def _sparse_cross_entropy(made, operation):
    logits, labels = made.inputs(operation)
    log_probabilities = made.node("LogSoftmax", [logits], axis=-1)
    labels = made.unsqueeze(made.cast(labels, dtypes.int64), [1])
    picked = made.node("GatherElements", [log_probabilities, labels], axis=1)
    return made.squeeze(made.node("Neg", [picked]), [1])


@converts("SoftmaxCrossEntropyWithLogits")
def _cross_entropy(made, operation):
    logits, labels = made.inputs(operation)
    products = made.node("Mul", [made.node("LogSoftmax", [logits], axis=-1), labels])
    return made.node("Neg", [made.node("ReduceSum", [products, made.ints([-1])], keepdims=0)])

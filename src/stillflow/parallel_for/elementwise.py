"""How elementwise nodes, and those whose gradients are, are vectorized."""

from __future__ import annotations

from stillflow import ops
from stillflow.parallel_for.rules import same_in_all, stacked, vectorizes

_ELEMENTWISE = """
    Abs Acos Acosh Add AddV2 Angle Asin Asinh Atan Atan2 Atanh BesselI0e BesselI1e BitwiseAnd BitwiseOr BitwiseXor
    Ceil Complex ComplexAbs Conj Cos Cosh Digamma Div DivNoNan Elu Erf Erfc Exp Expm1 Floor FloorDiv FloorMod Greater
    GreaterEqual Igamma IgammaGradA Igammac Imag Inv Invert IsFinite IsInf IsNan LeftShift Less LessEqual Lgamma Log
    Log1p LogicalAnd LogicalNot LogicalOr LogicalXor Maximum Minimum Mod Mul MulNoNan Neg Polygamma Pow Real RealDiv
    Reciprocal Relu Relu6 RightShift Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Square
    SquaredDifference Sub Tan Tanh TruncateDiv TruncateMod Xdivy Xlogy Zeta Cast Equal NotEqual ApproximateEqual
    LeakyRelu CheckNumerics
"""
_OF_EQUAL_SHAPES = """
    EluGrad Relu6Grad ReluGrad SeluGrad SigmoidGrad SoftplusGrad SoftsignGrad TanhGrad SqrtGrad RsqrtGrad
    ReciprocalGrad Cross LeakyReluGrad
"""


@vectorizes(*_ELEMENTWISE.split())
def _elementwise(node):
    return stacked(node.again(node.aligned())[0])


@vectorizes(*_OF_EQUAL_SHAPES.split())
def _of_equal_shapes(node):
    return stacked(node.again(node.stack_all())[0])


@vectorizes("AddN")
def _add_n(node):
    return stacked(ops.add_n(node.stack_all()))


@vectorizes("BiasAdd")
def _bias_add(node):
    (value, _), (bias, bias_stacked) = node.inputs
    if not bias_stacked and node.attr("data_format") == b"NHWC":
        return stacked(ops.bias_add(value, bias))
    value = node.rows(0)
    channels_first = node.attr("data_format") == b"NCHW"
    shape = ops.shape(value)
    rank = ops.rank(value)
    size = ops.shape(bias)[-1:]
    before = 1 if channels_first else rank - 2
    after = rank - 3 if channels_first else 0
    first = node.length if bias_stacked else [1]
    shape = ops.concat([first, _ones(before), size, _ones(after)], 0)
    return stacked(value + ops.reshape(bias, shape))


def _ones(count):
    return ops.fill(ops.reshape(count, [1]), 1)


@vectorizes("BiasAddGrad")
def _bias_add_grad(node):
    gradient = node.rows(0)
    rank = ops.rank(gradient)
    if node.attr("data_format") == b"NCHW":
        axes = ops.concat([[1], ops.range(3, rank)], 0)
    else:
        axes = ops.range(1, rank - 1)
    return stacked(ops.reduce_sum(gradient, axis=axes))


@vectorizes("Select")
def _select(node):
    condition, chosen, other = node.stack_all()
    missing = ops.rank(chosen) - ops.rank(condition)
    # A scalar condition chooses between whole values of a round, a vector between their rows.
    shape = ops.concat([ops.shape(condition), _ones(missing)], 0)
    condition = ops.logical_and(ops.reshape(condition, shape), ops.ones_like(chosen, dtype="bool"))
    return stacked(ops.select(condition, chosen, other))


@vectorizes("SelectV2")
def _select_v2(node):
    return stacked(node.again(node.aligned())[0])


@vectorizes("ZerosLike", "OnesLike")
def _filled_like(node):
    return stacked(node.again([node.value(0)])[0])


@vectorizes("Shape")
def _shape(node):
    return same_in_all(ops.shape(node.value(0), out_type=node.op.outputs[0].dtype)[1:])


@vectorizes("ShapeN")
def _shape_n(node):
    dtype = node.op.outputs[0].dtype
    return [
        same_in_all(ops.shape(tensor, out_type=dtype)[1:] if is_stacked else ops.shape(tensor, out_type=dtype))
        for tensor, is_stacked in node.inputs
    ]


@vectorizes("Size")
def _size(node):
    dtype = node.op.outputs[0].dtype
    return same_in_all(ops.reduce_prod(ops.shape(node.value(0), out_type=dtype)[1:]))


@vectorizes("Rank")
def _rank(node):
    return same_in_all(ops.rank(node.value(0)) - 1)

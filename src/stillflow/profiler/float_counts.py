"""How many floating-point operations an operation takes, from the shapes of its tensors.

The counts are TensorFlow 1.15's, which has some for the ops below alone, and calls a multiply-add two.
"""

from __future__ import annotations

import math

_PER_INPUT = dict.fromkeys("Reciprocal Square Log Neg AssignSub AssignAdd BiasAdd".split(), 1)
_PER_INPUT.update(Rsqrt=2, Softmax=5)
_PER_OUTPUT = dict.fromkeys(
    "Add Sub Mul RealDiv Maximum Minimum Pow GreaterEqual Greater LessEqual Less Equal NotEqual".split(), 1
)
_PER_OUTPUT.update(RsqrtGrad=4, SquaredDifference=2)
_REDUCTIONS = ("Sum", "ArgMax", "ArgMin", "BiasAddGrad")
_PRODUCTS = ("MatMul", "BatchMatMul")
# How many of the filter's dimensions, from the first, each element of a result needs.
_FILTERS = {"Conv2D": 3, "Conv3D": 4, "DepthwiseConv2dNative": 2, "Dilation2D": 2}


class Shapes:
    """The shapes of tensors: those of the graph, and where it does not know them all, those of a run.

    `of_run` has dims by tensor names. Asking for the size of what is not known raises ValueError.
    """

    def __init__(self, of_run=None):
        self._of_run = of_run or {}

    def dims(self, tensor):
        if tensor.shape.is_fully_defined():
            return tensor.shape.as_list()
        if tensor.name in self._of_run:
            return self._of_run[tensor.name]
        raise ValueError(f"Shape {tensor.shape} is not fully defined")

    def size(self, tensor):
        return math.prod(self.dims(tensor))


def float_operations(op, shapes):
    """The count for an operation, 0 where TensorFlow has none.

    Raises ValueError if a shape that it takes is not known, or for images of another format than NHWC.
    """
    kind = op.type
    if kind in _PER_INPUT:
        return shapes.size(op.inputs[0]) * _PER_INPUT[kind]
    if kind in _PER_OUTPUT:
        return shapes.size(op.outputs[0]) * _PER_OUTPUT[kind]
    if kind in _REDUCTIONS:
        return shapes.size(op.inputs[0]) - shapes.size(op.outputs[0])
    if kind in _PRODUCTS:
        dims = shapes.dims(op.inputs[0])
        inner = dims[-2] if kind == "MatMul" and op.get_attr("transpose_a") else dims[-1]
        return 2 * inner * shapes.size(op.outputs[0])
    if kind in _FILTERS:
        shapes.dims(op.inputs[0])
        return 2 * shapes.size(op.outputs[0]) * math.prod(shapes.dims(op.inputs[1])[: _FILTERS[kind]])
    rule = _RULES.get(kind)
    return 0 if rule is None else rule(op, shapes)


def _of_pool(op, shapes):
    return _window(op) * shapes.size(op.outputs[0])


def _of_average_pool_grad(op, shapes):
    return 2 * _window(op) * shapes.size(op.inputs[1])


def _of_max_pool_grad(op, shapes):
    return (_window(op) + 1) * shapes.size(op.inputs[1])


def _of_conv_input_grad(op, shapes):
    _check_format(op)
    return _of_conv_grad(op, shapes.dims(op.outputs[0]), shapes.size(op.inputs[1]))


def _of_conv_filter_grad(op, shapes):
    _check_format(op)
    return _of_conv_grad(op, shapes.dims(op.inputs[0]), shapes.size(op.outputs[0]))


def _of_conv_grad(op, image_dims, filter_size):
    strides = op.get_attr("strides")
    return int(2 * math.prod(image_dims) * filter_size / (image_dims[-1] * strides[1] * strides[2]))


def _of_sum(op, shapes):
    return shapes.size(op.inputs[0]) * (len(op.inputs) - 1) if op.inputs else 0


def _of_l2_loss(op, shapes):
    return 3 * shapes.size(op.inputs[0]) - 1


def _of_mean(op, shapes):
    shapes.size(op.outputs[0])
    return shapes.size(op.inputs[0])


def _window(op):
    _check_format(op)
    return math.prod(op.get_attr("ksize"))


def _check_format(op):
    if op.get_attr("data_format") != b"NHWC":
        raise ValueError("Only NHWC format is supported in flops computations")


_RULES = {
    "AddN": _of_sum,
    "AvgPool": _of_pool,
    "AvgPoolGrad": _of_average_pool_grad,
    "Conv2DBackpropFilter": _of_conv_filter_grad,
    "Conv2DBackpropInput": _of_conv_input_grad,
    "L2Loss": _of_l2_loss,
    "MaxPool": _of_pool,
    "MaxPoolGrad": _of_max_pool_grad,
    "Mean": _of_mean,
}

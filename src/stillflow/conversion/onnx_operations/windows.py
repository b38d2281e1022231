"""Convolutions and pools: TensorFlow keeps channels last, ONNX first."""

from __future__ import annotations

import numpy as np

from stillflow.conversion.onnx_graph import converts
from stillflow.inspection.sources import InputError


class Layout:
    """Where an operation's channels are, and what turns it into ONNX's layout."""

    def __init__(self, made, operation, rank=4):
        self._made = made
        self.rank = rank
        self.is_first = operation.get_attr("data_format") in (b"NCHW", b"NCDHW")
        self.spatial = range(2, rank) if self.is_first else range(1, rank - 1)

    def enter(self, name):
        """A tensor with channels first."""
        return name if self.is_first else self._made.transpose(name, [0, self.rank - 1, *range(1, self.rank - 1)])

    def leave(self, name):
        """A tensor with channels where the operation has them."""
        return name if self.is_first else self._made.transpose(name, [0, *range(2, self.rank), 1])

    def of(self, values):
        """The values of the spatial dimensions, of a list for all dimensions."""
        return [int(values[axis]) for axis in self.spatial]


def _same_pads(sizes, windows, strides):
    """What SAME pads in front and behind, for known sizes."""
    totals = [
        max((-(-size // stride) - 1) * stride + window - size, 0)
        for size, window, stride in zip(sizes, windows, strides, strict=True)
    ]
    return [total // 2 for total in totals] + [total - total // 2 for total in totals]


def _padding(made, operation, layout, windows, strides):
    """The attributes of padding, as ONNX has them; windows of convolutions with their dilations."""
    padding = operation.get_attr("padding")
    if padding == b"VALID":
        return {"auto_pad": "VALID"}
    if padding == b"EXPLICIT":
        explicit = np.reshape(operation.get_attr("explicit_paddings"), [-1, 2])
        return {"pads": [int(explicit[axis][side]) for side in (0, 1) for axis in layout.spatial]}
    sizes = layout.of([size or -1 for size in made.dims(operation.inputs[0], "to pad it")])
    if -1 in sizes:
        return {"auto_pad": "SAME_UPPER"}
    return {"pads": _same_pads(sizes, windows, strides)}


def _convolved(made, operation, layout, filters, groups=1):
    kernel = filters.shape[2:]
    strides = layout.of(operation.get_attr("strides"))
    dilations = layout.of(operation.get_attr("dilations"))
    windows = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    found = made.node(
        "Conv",
        [layout.enter(made.input(operation, 0)), made.constant(filters, "filters")],
        kernel_shape=list(kernel),
        strides=strides,
        dilations=dilations,
        group=groups,
        **_padding(made, operation, layout, windows, strides),
    )
    return layout.leave(found)


def _filters(made, operation, order):
    """The filters, of which ONNX wants another order of dimensions."""
    return made.value(operation, 1).transpose(order)


def _depthwise_filters(made, operation):
    """[height, width, channels, multiplier] as filters of as many groups as there are channels."""
    filters = made.value(operation, 1)
    height, width, channels, multiplier = filters.shape
    return filters.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, height, width), channels


@converts("Conv2D")
def _conv2d(made, operation):
    return _convolved(made, operation, Layout(made, operation), _filters(made, operation, [3, 2, 0, 1]))


@converts("Conv3D")
def _conv3d(made, operation):
    return _convolved(made, operation, Layout(made, operation, 5), _filters(made, operation, [4, 3, 0, 1, 2]))


@converts("DepthwiseConv2dNative")
def _depthwise(made, operation):
    filters, channels = _depthwise_filters(made, operation)
    return _convolved(made, operation, Layout(made, operation), filters, channels)


@converts("BatchToSpaceND")
def _dilated(made, operation):
    """A convolution with dilation, which TensorFlow 1 makes of a batch of parts of the image."""
    if operation not in made.dilated:
        raise InputError(f"{operation.name}: BatchToSpaceND is known only as the end of a dilated convolution.")
    convolution = operation.inputs[0].op
    spread = convolution.inputs[0].op
    block = [int(size) for size in made.value(spread, 1)]
    layout = Layout(made, convolution)
    if layout.is_first or len(block) != 2 or layout.of(convolution.get_attr("strides")) != [1, 1]:
        raise InputError(f"{operation.name}: only dilated convolutions of images without strides are known.")
    groups = 1
    if convolution.type == "Conv2D":
        filters = _filters(made, convolution, [3, 2, 0, 1])
    else:
        filters, groups = _depthwise_filters(made, convolution)
    paddings = np.asarray(made.value(spread, 2))
    found = made.node(
        "Conv",
        [layout.enter(made.input(spread, 0)), made.constant(filters, "filters")],
        kernel_shape=list(filters.shape[2:]),
        dilations=block,
        group=groups,
        pads=[int(paddings[axis][side]) for side in (0, 1) for axis in (0, 1)],
    )
    crops = np.asarray(made.value(operation, 2))
    if crops.any():
        ends = [-int(crop) or 2**62 for crop in crops[:, 1]]
        found = made.slice(found, crops[:, 0], ends, [2, 3])
    return layout.leave(found)


def _sizes(made, operation):
    """The sizes that a transposed convolution is told to have, None where unknown."""
    told = operation.inputs[0]
    if made.is_constant(told):
        return [int(size) for size in made.value(operation, 0)]
    if told.op.type != "Pack":
        return [None] * 4
    parts = enumerate(told.op.inputs)
    return [int(made.value(told.op, index)) if made.is_constant(part) else None for index, part in parts]


@converts("Conv2DBackpropInput")
def _transposed(made, operation):
    """A transposed convolution: the gradient of one, with its size as the first input."""
    layout = Layout(made, operation)
    dims = made.dims(operation.inputs[2], "to transpose a convolution")
    before, after = (layout.of([size or -1 for size in given]) for given in (dims, _sizes(made, operation)))
    if -1 in before or -1 in after:
        raise InputError(f"{operation.name}: heights and widths of a transposed convolution must be known.")
    filters = _filters(made, operation, [3, 2, 0, 1])
    kernel, strides = filters.shape[2:], layout.of(operation.get_attr("strides"))
    dilations = layout.of(operation.get_attr("dilations"))
    windows = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
    padding = operation.get_attr("padding")
    if padding == b"SAME":
        pads = _same_pads(after, windows, strides)
    elif padding == b"VALID":
        pads = [0] * 4
    else:
        explicit = np.reshape(operation.get_attr("explicit_paddings"), [-1, 2])
        pads = [int(explicit[axis][side]) for side in (0, 1) for axis in layout.spatial]
    more = [
        wanted - ((size - 1) * stride + window - pads[axis] - pads[axis + 2])
        for axis, (wanted, size, stride, window) in enumerate(zip(after, before, strides, windows, strict=True))
    ]
    found = made.node(
        "ConvTranspose",
        [layout.enter(made.input(operation, 2)), made.constant(filters, "filters")],
        kernel_shape=list(kernel), strides=strides, dilations=dilations, pads=pads, output_padding=more,
    )  # fmt: skip
    return layout.leave(found)


@converts("MaxPool", "AvgPool", "MaxPool3D", "AvgPool3D")
def _pool(made, operation):
    layout = Layout(made, operation, 5 if operation.type.endswith("3D") else 4)
    windows, strides = (layout.of(operation.get_attr(key)) for key in ("ksize", "strides"))
    if np.prod(operation.get_attr("ksize")) != np.prod(windows):
        raise InputError(f"{operation.name}: ONNX has no pools over channels or examples.")
    kind = "MaxPool" if operation.type.startswith("Max") else "AveragePool"
    padding = _padding(made, operation, layout, windows, strides)
    found = made.node(
        kind, [layout.enter(made.input(operation, 0))], kernel_shape=windows, strides=strides, **padding
    )
    return layout.leave(found)

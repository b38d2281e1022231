"""The windows that layers slide over images, from their nodes in a GraphDef."""

from __future__ import annotations

from typing import NamedTuple

from stillflow.graph.tensor_proto import make_ndarray
from stillflow.names import public_module
from stillflow.platform import logging

public_module("contrib.receptive_field.python.util.parse_layer_parameters")

_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")
_POOLS = ("MaxPool", "MaxPoolV2", "AvgPool")
# Ops whose outputs see no more of an image than their inputs.
_POINTWISE = frozenset(
    (
        "Add", "AddV2", "BiasAdd", "Cast", "Ceil", "ConcatV2", "Const", "Floor", "FusedBatchNorm", "Identity", "Log",
        "Mul", "Pow", "RealDiv", "Relu", "Relu6", "Round", "Rsqrt", "Softplus", "Sub", "VariableV2", "LRN",
        "GreaterEqual",
    )
)  # fmt: skip


class _Window(NamedTuple):
    """Along one axis: size and stride, and how many zeros are put before an image, and before and after it."""

    kernel_size: int | None = 1
    stride: int | None = 1
    padding: int | None = 0
    total_padding: int | None = 0


def get_layer_params(node, name_to_node, input_resolution=None, force=False):
    """(kernel size, stride, padding on the left or top, padding on both sides) of a layer, each for x and then for y.

    Args:
      node: its NodeDef.
      name_to_node: {name: NodeDef} of the graph.
      input_resolution: [height, width] of its input, if they are known: the padding may depend on them.
      force: whether to give None for ops that are not known.

    Returns:
      (kernel_size_x, kernel_size_y, stride_x, stride_y, padding_x, padding_y, total_padding_x, total_padding_y);
      paddings are None where they depend on a resolution that is not known.

    Raises ValueError for an op that is not known, and for layers over batches or channels.
    """
    height, width = input_resolution if input_resolution is not None else (None, None)
    if node.op in _CONVOLUTIONS or node.op in _POOLS:
        sizes = _kernel_sizes(node, name_to_node) if node.op in _CONVOLUTIONS else _pool_sizes(node, name_to_node)
        strides = _strides(node, name_to_node)
        y, x = (
            _Window(size, stride, *_padding(node, size, stride, resolution))
            for size, stride, resolution in zip(sizes, strides, (height, width), strict=True)
        )
    elif node.op == "Pad":
        y, x = (_Window(padding=before, total_padding=before + after) for before, after in _pads(node, name_to_node))
    elif node.op in _POINTWISE:
        y = x = _Window()
    elif force:
        y = x = _Window(None, None, None, None)
    else:
        raise ValueError(f"Unknown layer for operation '{node.name}': {node.op}")
    return tuple(value for pair in zip(x, y, strict=True) for value in pair)


def _array_of(node, i, ending, what, name_to_node):
    """The constant that is an input of a node."""
    name = node.input[i]
    if not name.endswith(ending):
        raise ValueError(f"{what} name does not end with '{ending}'")
    return make_ndarray(name_to_node[name].attr["value"].tensor)


def _strides(node, name_to_node):
    """Of rows and columns."""
    if node.op == "MaxPoolV2":
        strides = _array_of(node, 2, "/strides", "Strides", name_to_node).tolist()
    else:
        strides = node.attr["strides"].list.i
    return strides[1], strides[2]


def _kernel_sizes(node, name_to_node):
    name = node.input[1]
    if not name.endswith("/read"):
        raise ValueError("Weight layer's name input to conv layer does not end with '/read'")
    name = name.removesuffix("/read")
    weights = name_to_node[name]
    if weights.op == "VariableV2":
        dims = weights.attr["shape"].shape.dim
    elif weights.op == "Const":
        dims = weights.attr["value"].tensor.tensor_shape.dim
    else:
        raise ValueError(f"Weight layer {name} is not of type VariableV2 or Const: {weights.op}")
    if len(dims) != 4:
        raise ValueError(f"Weight layer {name} does not have rank 4. Instead, it has: {len(dims)}")
    return dims[0].size, dims[1].size


def _pool_sizes(node, name_to_node):
    if node.op == "MaxPoolV2":
        sizes = _array_of(node, 1, "/ksize", "Kernel size", name_to_node).tolist()
    else:
        sizes = node.attr["ksize"].list.i
    for size, which in ((sizes[0], "first"), (sizes[3], "last")):
        if size != 1:
            raise ValueError(f"pool ksize for {which} dim is not 1")
    return sizes[1], sizes[2]


def _padding(node, size, stride, resolution):
    """(padding before, in all) along one axis."""
    kind = node.attr["padding"].s
    if kind == b"VALID":
        return 0, 0
    if kind != b"SAME":
        raise ValueError(f"Invalid padding operation {kind}")
    if resolution is not None:
        total = max(size - (resolution % stride or stride), 0)
        return total // 2, total
    if size == 1:
        return 0, 0
    if stride == 1:
        return (size - 1) // 2, size - 1
    if stride == 2 and size % 2 == 0:
        return (size - 1) // 2, None
    logging.warning(
        "Padding depends on input size, which means that the effective padding may be different depending on the "
        "input image dimensionality. In this case, alignment check will be skipped. If you know the input "
        "resolution, please set it."
    )
    return None, None


def _pads(node, name_to_node):
    """(before, after) of rows and of columns, of a Pad."""
    name = node.input[1]
    if name.endswith("/paddings") and name_to_node[name].op != "Const":
        raise ValueError("Padding op is not Const")
    pads = _array_of(node, 1, "/paddings", "Padding layer", name_to_node).tolist()
    for pad, which in ((pads[0], "first"), (pads[3], "last")):
        if pad != [0, 0]:
            raise ValueError(f"padding is not zero for {which} tensor dim")
    return pads[1], pads[2]

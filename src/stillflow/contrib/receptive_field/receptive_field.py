"""compute_receptive_field_from_graph_def: what part of an image the elements of a feature map see."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stillflow.contrib.receptive_field.compute_order import get_compute_order
from stillflow.contrib.receptive_field.layers import get_layer_params
from stillflow.graph.graph import Graph
from stillflow.graph.operation import Tensor
from stillflow.names import public


@public("contrib.receptive_field.python.util.receptive_field.ReceptiveField")
class ReceptiveField:
    """What an element of a feature map sees: along each axis, x first, a size, a stride and a padding in pixels."""

    def __init__(self, size, stride, padding):
        self.size = np.asarray(size)
        self.stride = np.asarray(stride)
        self.padding = np.asarray(padding)

    def _axes(self, given, axis, what):
        axes = list(range(self.size.size) if axis is None else axis)
        if given.shape[-1] != len(axes):
            raise ValueError(
                f"Dimensionality of the {what} ({given.shape[-1]}) does not match dimensionality of `axis` "
                f"({len(axes)})"
            )
        return axes

    def compute_input_center_coordinates(self, y, axis=None):
        """Where the centers of what elements see are in the image.

        Args:
          y: [..., axes]: the elements.
          axis: which axes they have; all by default.

        Raises ValueError for another number of axes.
        """
        y = np.asarray(y)
        axes = self._axes(y, axis, "feature coordinates `y`")
        return -self.padding[axes] + y * self.stride[axes] + (self.size[axes] - 1) / 2

    def compute_feature_coordinates(self, x, axis=None):
        """The elements that see parts of the image with these centers; see `compute_input_center_coordinates`."""
        x = np.asarray(x)
        axes = self._axes(x, axis, "input center coordinates `x`")
        return (x + self.padding[axes] + (1 - self.size[axes]) / 2) / self.stride[axes]

    def __iter__(self):
        return iter(np.concatenate([self.size, self.stride, self.padding]))


class _Field(NamedTuple):
    """What the output sees of a node along one axis."""

    size: int = 1
    stride: int = 1
    padding: int | None = 0

    def before(self, kernel_size, stride, padding, is_known):
        """What it sees of the input of a layer."""
        return _Field(
            stride * self.size + kernel_size - stride, stride * self.stride,
            stride * self.padding + padding if is_known and self.padding is not None else None,
        )  # fmt: skip

    def check_aligned(self, other, direction):
        """Raises ValueError if the other field lies elsewhere. The paddings of both are known."""
        for what, same in (
            ("effective stride", self.stride == other.stride),
            ("center shift", self.size - 2 * (self.padding or 0) == other.size - 2 * (other.padding or 0)),
        ):
            if not same:
                raise ValueError(
                    f"Graph is not aligned since {what} from different paths is different in {direction} direction"
                )


@public(
    "contrib.receptive_field.compute_receptive_field_from_graph_def",
    "contrib.receptive_field.receptive_field_api.compute_receptive_field_from_graph_def",
    "contrib.receptive_field.python.util.receptive_field.compute_receptive_field_from_graph_def",
)
def compute_receptive_field_from_graph_def(
    graph_def, input_node, output_node, stop_propagation=None, input_resolution=None
):
    """The receptive field of a feature map.

    Args:
      graph_def: a GraphDef or a tf.Graph, of convolutions, pools and what goes element by element.
      input_node: the image, a tensor or the name of a node.
      output_node: the feature map, a tensor or the name of a node.
      stop_propagation: beginnings of names of inputs that do not count.
      input_resolution: [height, width] of the image, where paddings depend on it.

    Returns:
      A ReceptiveField, or (size x, size y, stride x, stride y, padding x, padding y) of it when it is unpacked.

    Raises ValueError for ops that are not known, for nodes that are not there or not connected, and if several ways
    lead to the output that see different parts.
    """
    if isinstance(graph_def, Graph):
        graph_def = graph_def.as_graph_def()
    input_node, output_node = (
        node.op.name if isinstance(node, Tensor) else node for node in (input_node, output_node)
    )
    infos, nodes = get_compute_order(graph_def, input_node, input_resolution)
    if output_node not in nodes:
        raise ValueError("Output node was not found")
    fields = {output_node: (_Field(), _Field())}  # name -> along x and y
    is_known = True  # the padding, so far
    for name, info in sorted(infos.items(), key=lambda item: -item[1].order):
        if name == input_node:
            break
        if name not in fields:
            continue
        params = get_layer_params(info.node, nodes, info.input_size)
        is_known = is_known and params[4] is not None and params[5] is not None
        before = tuple(
            field.before(params[i], params[i + 2], params[i + 4], is_known) for i, field in enumerate(fields[name])
        )
        for source in info.node.input:
            if source.startswith(("^", *(stop_propagation or ()))):
                continue
            nodes[source]  # KeyError for another output than the first, as in TensorFlow
            fields[source] = _joined(fields[source], before, is_known) if source in fields else before
    if input_node not in fields:
        raise ValueError("Input node was not found")
    return ReceptiveField(*zip(*fields[input_node], strict=True))


def _joined(known, new, is_known):
    """The larger of two fields along each axis."""
    if is_known:
        for field, other, direction in zip(known, new, ("horizontal", "vertical"), strict=True):
            field.check_aligned(other, direction)
    return tuple(other if field.size < other.size else field for field, other in zip(known, new, strict=True))

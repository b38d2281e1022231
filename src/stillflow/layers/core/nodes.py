"""The graph of layers: which call of a layer made a tensor, and of which tensors."""

from __future__ import annotations

import collections

from stillflow.graph import nest
from stillflow.graph.operation import Tensor

# Of a tensor: the layer that made it, which of the layer's calls it was, and which of the call's outputs it is.
KerasHistory = collections.namedtuple("KerasHistory", ["layer", "node_index", "tensor_index"])


def have_history(tensors):
    """Whether all of a structure's tensors were made by layers that record their calls."""
    return all(hasattr(tensor, "_keras_history") for tensor in nest.flatten(tensors))


def _shape_tuple(tensor):
    try:
        return tuple(tensor.shape.as_list())
    except ValueError:
        return None


class Node:
    """One call of a layer. It joins the layers that made its inputs to the one that was called.

    Attributes:
      outbound_layer: the layer that was called.
      inbound_layers, node_indices, tensor_indices: of each input, where it is from.
      input_tensors, output_tensors, input_shapes, output_shapes: structures of tensors and of tuples.
      arguments: what else the layer was called with, by name.
    """

    def __init__(self, layer, input_tensors, output_tensors, arguments=None):
        origins = [tensor._keras_history for tensor in nest.flatten(input_tensors)]
        self.outbound_layer = layer
        self.inbound_layers = nest.pack_sequence_as(input_tensors, [origin.layer for origin in origins])
        self.node_indices = nest.pack_sequence_as(input_tensors, [origin.node_index for origin in origins])
        self.tensor_indices = nest.pack_sequence_as(input_tensors, [origin.tensor_index for origin in origins])
        self.input_tensors = input_tensors
        self.output_tensors = output_tensors
        self.input_shapes = nest.map_structure(_shape_tuple, input_tensors)
        self.output_shapes = nest.map_structure(_shape_tuple, output_tensors)
        self.arguments = arguments
        for origin in origins:
            if origin.layer is not None:
                origin.layer.outbound_nodes.append(self)
        layer.inbound_nodes.append(self)

    def iterate_inbound(self, include_arguments=False):
        """[(layer, node index, tensor index, tensor)] of the inputs, and of layers' outputs among the arguments."""
        tensors = nest.flatten(self.input_tensors)
        if include_arguments:
            tensors += [value for value in nest.flatten(self.arguments) if hasattr(value, "_keras_history")]
        return [(*tensor._keras_history, tensor) for tensor in tensors]

    def _get_all_node_dependencies(self):
        """The nodes that made what this call was given."""
        arguments = [value for value in nest.flatten(self.arguments) if isinstance(value, Tensor)]
        tensors = nest.flatten(self.input_tensors) + [each for each in arguments if hasattr(each, "_keras_history")]
        return [t._keras_history.layer._inbound_nodes[t._keras_history.node_index] for t in tensors]

    def get_config(self):
        """The node as plain values."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(lambda layer: layer.name if layer else None, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }

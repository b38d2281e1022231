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


_of_operations: list = []  # what gives tensors of plain operations a history; models put it there


def give_histories_by(function):
    """Says what gives histories to tensors that plain operations have computed of those of layers."""
    _of_operations[:] = [function]


def make_histories(tensors):
    """Gives tensors a history where they have been computed, without layers, of some that have one."""
    if _of_operations and not all(hasattr(tensor, "_keras_history") for tensor in tensors):
        _of_operations[0](tensors)


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
      is_source: whether it joins nothing: that of an input, and the one that stands for a whole model.
    """

    def __init__(self, layer, input_tensors, output_tensors, arguments=None, is_source=False):
        origins = [] if is_source else [tensor._keras_history for tensor in nest.flatten(input_tensors)]
        structure = [] if is_source else input_tensors
        self.outbound_layer = layer
        self.is_source = is_source
        self.inbound_layers = nest.pack_sequence_as(structure, [origin.layer for origin in origins])
        self.node_indices = nest.pack_sequence_as(structure, [origin.node_index for origin in origins])
        self.tensor_indices = nest.pack_sequence_as(structure, [origin.tensor_index for origin in origins])
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
        tensors = [] if self.is_source else nest.flatten(self.input_tensors)
        if include_arguments:
            tensors = tensors + self._tensors_of_arguments()
        return [(*tensor._keras_history, tensor) for tensor in tensors]

    def _tensors_of_arguments(self):
        values = nest.flatten(self.arguments) if self.arguments else []
        return [value for value in values if isinstance(value, Tensor) and hasattr(value, "_keras_history")]

    def _get_all_node_dependencies(self):
        """The nodes that made what this call was given."""
        origins = self.iterate_inbound(include_arguments=True)
        return [layer._inbound_nodes[node_index] for layer, node_index, _, _ in origins]

    def get_config(self):
        """The node as plain values."""
        return {
            "outbound_layer": self.outbound_layer.name,
            "inbound_layers": nest.map_structure(lambda layer: layer.name if layer else None, self.inbound_layers),
            "node_indices": self.node_indices,
            "tensor_indices": self.tensor_indices,
        }

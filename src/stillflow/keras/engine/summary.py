"""Tables of models' layers."""

from __future__ import annotations

import numpy as np

from stillflow.graph import nest


def _count(weights):
    unique = {id(weight): weight for weight in weights}.values()
    return int(sum(np.prod(weight.shape.as_list()) for weight in unique))


def _is_a_chain(model):
    """Whether each layer has one input, from the layer before."""
    if type(model).__name__ == "Sequential" or not model._is_graph_network:
        return True
    nodes: list = []
    for at_depth in model._nodes_by_depth.values():
        if len(at_depth) > 1 or (len(at_depth) == 1 and len(nest.flatten(at_depth[0].inbound_layers)) > 1):
            return False
        nodes += at_depth
    return all(sum(node in nodes for node in layer._inbound_nodes) <= 1 for layer in model.layers)


def print_summary(model, line_length=None, positions=None, print_fn=None):
    """Prints a table of a model's layers; see `Model.summary`."""
    show = print_fn or print
    is_chain = _is_a_chain(model)
    line_length = line_length or (65 if is_chain else 98)
    positions = positions or ([0.45, 0.85, 1.0] if is_chain else [0.33, 0.55, 0.67, 1.0])
    if positions[-1] <= 1:
        positions = [int(line_length * position) for position in positions]
    nodes = [node for at_depth in getattr(model, "_nodes_by_depth", {}).values() for node in at_depth]

    def row(fields):
        line = ""
        for field, end in zip(fields, positions, strict=False):
            line = (f"{line[:-1]} " if line else line) + str(field)
            line = line[:end].ljust(end)
        show(line)

    fields = ["Layer (type)", "Output Shape", "Param #"] + ([] if is_chain else ["Connected to"])
    show(f'Model: "{model.name}"')
    show("_" * line_length)
    row(fields)
    show("=" * line_length)
    layers = model.layers
    for i, layer in enumerate(layers):
        origins = [] if is_chain else _origins(layer, nodes)
        described = [f"{layer.name} ({type(layer).__name__})", _output_shape(layer), _parameters(layer)]
        row(described if is_chain else [*described, origins[0] if origins else ""])
        for origin in origins[1:]:
            row(["", "", "", origin])
        show(("=" if i == len(layers) - 1 else "_") * line_length)
    trainable = _count(getattr(model, "_collected_trainable_weights", model._unique_trainable_weights))
    others = _count(model.non_trainable_weights)
    show(f"Total params: {trainable + others:,}")
    show(f"Trainable params: {trainable:,}")
    show(f"Non-trainable params: {others:,}")
    show("_" * line_length)


def _output_shape(layer):
    try:
        return layer.output_shape
    except AttributeError:
        return "multiple"
    except RuntimeError:
        return "?"


def _parameters(layer):
    if not layer.built and not getattr(layer, "_is_graph_network", False):
        return 0
    return layer.count_params()


def _origins(layer, nodes):
    """["layer[node][output]"] of all inputs of a layer, in the model."""
    return [
        f"{origin.name}[{node_index}][{tensor_index}]"
        for node in layer._inbound_nodes
        if not nodes or node in nodes
        for origin, node_index, tensor_index, _ in node.iterate_inbound()
    ]

"""Networks as plain values, their shapes, and layers that are added to them later."""

from __future__ import annotations

import copy
import json

import numpy as np

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import get_graph
from stillflow.keras.backend.values import get_value
from stillflow.keras.engine.layer_graph import node_key
from stillflow.keras.engine.shapes import as_tensor_shapes, as_tuples, flat_shapes, is_shape, packed_shapes
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core.settings import floatx
from stillflow.platform import logging
from stillflow.platform.argument_specs import getfullargspec

# ---- To plain values ----------------------------------------------------------------------------------------


def _has_own_node(layer):
    """Whether the layer is a functional model, whose first node stands for itself."""
    return bool(getattr(layer, "_is_graph_network", False))


def config_of(network, key_of):
    """{"name": ..., "layers": [...], "input_layers": ..., "output_layers": ...} of a functional model."""
    numbers = {}  # key of a node -> its number in the model that is made of the config
    for layer in network.layers:
        kept = int(_has_own_node(layer))
        for index in range(len(layer._inbound_nodes)):
            key = key_of(layer, index)
            if key in network._network_nodes:
                numbers[key] = kept
                kept += 1
    layers = []
    for layer in network.layers:
        inbound = [
            _node_config(node, numbers, layer)
            for index, node in enumerate(layer._inbound_nodes)
            if key_of(layer, index) in network._network_nodes and node.inbound_layers not in ([], ())
        ]
        layers.append(
            {
                "name": layer.name,
                "class_name": type(layer).__name__,
                "config": layer.get_config(),
                "inbound_nodes": inbound,
            }
        )
    ends = {}
    for name, structure, coordinates in (
        ("input_layers", network._nested_inputs, network._input_coordinates),
        ("output_layers", network._nested_outputs, network._output_coordinates),
    ):
        found = [
            [layer.name, numbers[node_key(layer, index)], tensor_index]
            for layer, index, tensor_index in coordinates
            if node_key(layer, index) in network._network_nodes
        ]
        packed = nest.pack_sequence_as(structure, found)
        ends[name] = packed if nest.is_nested(structure) else [packed]
    return copy.deepcopy({"name": network.name, "layers": layers, **ends})


def _node_config(node, numbers, layer):
    arguments = {}
    if node.arguments:
        arguments = nest.map_structure(_plain, node.arguments)
        try:
            json.dumps(arguments)
        except TypeError:
            logging.warning(
                f"Layer {layer.name} was passed non-serializable keyword arguments: {node.arguments}. They will "
                "not be "
                "included in the serialized model (and thus will be missing at deserialization time)."
            )
            arguments = {}
    data = [
        [origin.name, numbers.get(node_key(origin, index), 0), tensor_index, arguments]
        for origin, index, tensor_index, _ in node.iterate_inbound()
    ]
    packed = nest.pack_sequence_as(node.input_tensors, data)
    return packed if nest.is_nested(node.input_tensors) else [packed]


def _plain(value):
    if hasattr(value, "_keras_history"):
        layer, node_index, tensor_index = value._keras_history
        return [layer.name, node_index, tensor_index]
    if isinstance(value, np.ndarray):
        return value.tolist()
    return get_value(value).tolist() if isinstance(value, Tensor) else value


# ---- From plain values --------------------------------------------------------------------------------------


def _is_origin(value):
    """Whether it says where a tensor is from: [name of a layer, number of a node, number of an output, ...]."""
    return (
        isinstance(value, (list, tuple))
        and len(value) in (3, 4)
        and isinstance(value[0], str)
        and all(isinstance(number, int) for number in value[1:3])
    )


def _mapped(function, data):
    """`function` of each origin in a structure of them."""
    if _is_origin(data):
        return function(list(data))
    if isinstance(data, dict):
        return {key: _mapped(function, value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return type(data)(_mapped(function, value) for value in data)
    return data


class _NotThereYet(Exception):
    """A node that is asked for has not been made."""


def made_of_config(kind, config, custom_objects):
    """A model, of what `config_of` returned."""
    layers: dict = {}
    pending = []  # (layer, data of a node)
    for data in config["layers"]:
        layer = layers[data["name"]] = deserialize_layer(data, custom_objects=custom_objects)
        pending += [(layer, node) for node in data["inbound_nodes"]]

    def tensor_at(origin):
        nodes = layers[origin[0]]._inbound_nodes
        if len(nodes) <= origin[1]:
            raise _NotThereYet
        return nest.flatten(nodes[origin[1]].output_tensors)[origin[2]]

    while pending:
        waiting = []
        for layer, data in pending:
            try:
                _call_again(layer, data, tensor_at)
            except _NotThereYet:
                waiting.append((layer, data))
        if len(waiting) == len(pending):
            raise ValueError("Improperly formatted model config.")
        pending = waiting
    inputs = _mapped(tensor_at, config["input_layers"])
    outputs = _mapped(tensor_at, config["output_layers"])
    model = kind(inputs=inputs, outputs=outputs, name=config.get("name"))
    added = [layer for layer in layers.values() if not any(layer is each for each in model.layers)]
    if added:
        nodes = [node for layer in layers.values() for node in layer.inbound_nodes[int(_has_own_node(layer)) :]]
        model._insert_layers(added, nodes)
    return model


def _call_again(layer, data, tensor_at):
    origins: list = []
    _mapped(origins.append, data)
    inputs = _mapped(tensor_at, data)
    arguments = origins[0][3] if origins and len(origins[0]) == 4 else {}
    flat = nest.flatten(inputs)
    if not isinstance(inputs, dict) and len(flat) == 1:
        inputs = flat[0]
    layer(inputs, **{key: _mapped(tensor_at, value) for key, value in arguments.items()})


# ---- Shapes -------------------------------------------------------------------------------------------------


def output_shape_of(network, input_shape):
    """The shapes of a functional model's outputs for inputs of those shapes."""
    input_shape = as_tensor_shapes(input_shape)
    flat = flat_shapes(input_shape)
    if len(flat) != len(network._input_layers):
        raise ValueError(
            f"Invalid input_shape argument {input_shape}: model has {len(network._input_layers)} tensor inputs."
        )
    known = str(flat)
    if known not in network._output_shape_cache:
        found = {id(tensor): shape for tensor, shape in zip(network.inputs, flat, strict=True)}
        for node in network._nodes_in_order():
            shapes = packed_shapes(node.input_tensors, (found[id(t)] for t in nest.flatten(node.input_tensors)))
            shapes = as_tensor_shapes(node.outbound_layer.compute_output_shape(as_tuples(shapes)))
            for tensor, shape in zip(nest.flatten(node.output_tensors), flat_shapes(shapes), strict=True):
                found[id(tensor)] = shape
        network._output_shape_cache[known] = packed_shapes(
            network._nested_outputs, (found[id(tensor)] for tensor in network.outputs)
        )
    return network._output_shape_cache[known]


def call_with_placeholders(network, input_shape):
    """Calls a subclassed model with placeholders, so that its variables are made.

    Raises ValueError if `call` needs more than inputs, or cannot take floats.
    """
    arguments = {}
    spec = getfullargspec(network.call)
    if len(spec.args) < 2:
        raise ValueError("You can only call `build` on a model if its `call` method accepts an `inputs` argument.")
    for name in spec.args[2 : len(spec.args) - len(spec.defaults or ())]:
        if name != "training":
            raise ValueError(
                "Currently, you cannot build your model if it has positional or keyword arguments that are not "
                "inputs "
                "to the model, but are required for its `call` method. Instead, in order to instantiate and build "
                "your "
                "model, `call` your model on real tensor data with all expected call arguments."
            )
        arguments["training"] = False

    def placeholder(shape):
        return ops.placeholder(floatx(), shape=shape)

    with get_graph().as_default():
        if isinstance(input_shape, list) and not is_shape(input_shape):
            inputs = [placeholder(shape) for shape in input_shape]
        else:
            inputs = placeholder(input_shape)
        try:
            network.call(inputs, **arguments)
        except TypeError:
            raise ValueError(
                "You cannot build your model by calling `build` if your layers do not support float type inputs. "
                "Instead, in order to instantiate and build your model, `call` your model on real tensor data (of "
                "the "
                "correct dtype)."
            ) from None


# ---- Layers that are added ----------------------------------------------------------------------------------


def insert_layers(network, layers, relevant_nodes=None):
    """Takes layers into a network, each node behind those that it depends on. Raises ValueError if that cannot be."""
    depths = {node: depth for depth, nodes in network._nodes_by_depth.items() for node in nodes}
    pending = list(relevant_nodes or [node for layer in layers for node in layer._inbound_nodes])
    members = {*pending, *depths}
    while pending:
        waiting = []
        for node in pending:
            depth = _depth_behind(node, depths, members)
            if depth is None:
                waiting.append(node)
                continue
            layer = node.outbound_layer
            key = node_key(layer, layer._inbound_nodes.index(node))
            if key not in network._network_nodes:
                depths[node] = depth
                network._network_nodes.add(key)
                network._nodes_by_depth[depth].append(node)
        if len(waiting) == len(pending):
            raise ValueError("Layers could not be added due to missing dependencies.")
        pending = waiting
    network._layers += [layer for layer in layers if not any(layer is each for each in network._layers)]


def _depth_behind(node, depths, members):
    depth = 0
    for dependency in node._get_all_node_dependencies():
        if dependency in depths:
            depth = min(depth, depths[dependency])
        elif dependency in members:
            return None
    return depth - 1

"""clone_model: another model like one, with variables of its own."""

from __future__ import annotations

from stillflow.graph import nest
from stillflow.keras.backend.values import is_keras_tensor
from stillflow.keras.engine.inputs import Input, InputLayer
from stillflow.keras.engine.model import Model
from stillflow.keras.engine.op_layers import AddLoss, AddMetric, TensorFlowOpLayer
from stillflow.keras.engine.sequential import Sequential
from stillflow.names import public

_ADDED = (AddLoss, AddMetric, TensorFlowOpLayer)  # what a chain has beside itself


@public("keras.models.clone_model")
def clone_model(model, input_tensors=None, clone_function=None):
    """A model of layers like those of another, with new initial values.

    Args:
      model: a Sequential or functional model.
      input_tensors: tensors that the clone is built upon, instead of new placeholders.
      clone_function: a function from a layer to the one that takes its place; inputs are always cloned.

    Raises:
      ValueError: for a subclassed model, for a `clone_function` that cannot be called, and for more than one input
        tensor of a Sequential model.
    """

    if isinstance(model, Sequential):
        return clone_chain(model, input_tensors, clone_function or clone_layer)
    return clone_network(model, input_tensors, clone_function or clone_layer)


def clone_layer(layer):
    return type(layer).from_config(layer.get_config())


@public("python.keras.models.share_weights")
def share_weights(layer):
    """The layer itself: as a `clone_function` it makes a clone with the variables of the model."""
    return layer


def _with_own_inputs(clone_function):
    """A function that clones layers, those of inputs always from their configs."""
    if not callable(clone_function):
        raise ValueError("Expected `layer_fn` argument to be a callable.")
    return lambda layer: (clone_layer if isinstance(layer, InputLayer) else clone_function)(layer)


@public("python.keras.models._clone_sequential_model")
def clone_chain(model, input_tensors=None, layer_fn=clone_layer):
    """What `clone_model` makes of a Sequential model. Raises ValueError for another."""
    if not isinstance(model, Sequential):
        raise ValueError("Expected `model` argument to be a `Sequential` model instance, but got:", model)
    cloned = _with_own_inputs(layer_fn)
    layers = {
        layer: cloned(layer)
        for layer in model._inner_layers()
        if not isinstance(layer, _ADDED) and not (isinstance(layer, InputLayer) and input_tensors is not None)
    }
    begin = [] if input_tensors is None else [_beginning(nest.flatten(input_tensors))]
    clone = Sequential(layers=[*begin, *layers.values()], name=model.name)
    if any(isinstance(layer, _ADDED) for layer in model._inner_layers()):
        found = {id(model.inputs[0]): clone.inputs[0]}
        for layer, new in layers.items():
            known = nest.flatten(layer._inbound_nodes[-1].output_tensors)
            found.update(zip(map(id, known), nest.flatten(new._inbound_nodes[-1].output_tensors), strict=True))
        of_chain = set(layers.values())
        nodes = _repeat_calls(model, found, layers, cloned)
        _insert(clone, model, [layer for layer in layers.values() if layer not in of_chain], nodes)
    return clone


def _beginning(tensors):
    """The input layer of a chain that is built upon a tensor."""
    if len(tensors) != 1:
        raise ValueError("To clone a `Sequential` model, we expect  at most one tensor as part of `input_tensors`.")
    (tensor,) = tensors
    if not is_keras_tensor(tensor):
        return Input(tensor=tensor, name=f"input_wrapper_for_{tensor.op.name}")._keras_history.layer
    layer = tensor._keras_history.layer
    if not isinstance(layer, InputLayer):
        raise ValueError(
            "Cannot clone a `Sequential` model on top of a tensor that comes from a Keras layer other than an "
            "`InputLayer`. Use the functional API instead."
        )
    return layer


def _new_inputs(model, input_tensors):
    """The tensors that the clone begins with, in the order of the model's."""
    if input_tensors is None:
        return [
            Input(batch_shape=layer._batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, name=layer.name)
            for layer in model._input_layers
        ]
    return [
        tensor if is_keras_tensor(tensor) else Input(tensor=tensor, name=f"input_wrapper_for_{layer.name}")
        for tensor, layer in zip(nest.flatten(input_tensors), model._input_layers, strict=True)
    ]


def _repeat_calls(model, found, layers, cloned):
    """Calls clones as the model's layers were called, unless the results are in `found`; returns the new nodes."""
    nodes = []
    for node in model._nodes_in_order():
        known = nest.flatten(node.output_tensors)
        if all(id(tensor) in found for tensor in known):
            continue
        if not all(id(tensor) in found for tensor in nest.flatten(node.input_tensors)):
            continue
        layer = layers.get(node.outbound_layer)
        if layer is None:
            layer = layers[node.outbound_layer] = cloned(node.outbound_layer)
        inputs = nest.map_structure(lambda tensor: found[id(tensor)], node.input_tensors)
        outputs = nest.flatten(layer(inputs, **(node.arguments or {})))
        nodes.append(layer._inbound_nodes[outputs[0]._keras_history.node_index])
        found.update(zip(map(id, known), outputs, strict=True))
    return nodes


def _insert(clone, model, layers, nodes):
    """Gives a clone the layers that only losses and metrics are computed by, metrics in the model's order."""
    names = model.metrics_names
    layers.sort(key=lambda layer: names.index(layer.metric_name) if isinstance(layer, AddMetric) else -1)
    clone._insert_layers(layers, relevant_nodes=nodes)


@public("python.keras.models._clone_functional_model")
def clone_network(model, input_tensors=None, layer_fn=clone_layer):
    """What `clone_model` makes of a functional model. Raises ValueError for another."""
    if not isinstance(model, Model):
        raise ValueError("Expected `model` argument to be a `Model` instance, got ", model)
    if isinstance(model, Sequential):
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, got a `Sequential` instance instead:",
            model,
        )
    if not model._is_graph_network:
        raise ValueError(
            "Expected `model` argument to be a functional `Model` instance, but got a subclass model instead."
        )
    cloned = _with_own_inputs(layer_fn)
    inputs = _new_inputs(model, input_tensors)
    found = {id(known): tensor for known, tensor in zip(model.inputs, inputs, strict=True)}
    layers: dict = {}
    nodes = _repeat_calls(model, found, layers, cloned)
    outputs = nest.pack_sequence_as(model._nested_outputs, [found[id(tensor)] for tensor in model.outputs])
    beginnings = inputs
    if input_tensors is None:
        beginnings = nest.pack_sequence_as(model._nested_inputs, inputs)
    clone = Model(beginnings, outputs, name=model.name)
    added = [layer for layer in layers.values() if layer not in clone.layers]
    if added:
        _insert(clone, model, added, nodes)
    return clone

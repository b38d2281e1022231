"""Network: layers that are connected, as one layer."""

from __future__ import annotations

from typing import Any

from stillflow.graph import nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.keras.engine import network_config
from stillflow.keras.engine.layer_graph import map_graph_network, map_subgraph_network, node_key
from stillflow.keras.engine.op_layers import AddLoss, AddMetric, create_keras_history
from stillflow.keras.engine.shapes import static_batch_size
from stillflow.keras.engine.weight_files import WeightFiles
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.call_context import call_context
from stillflow.layers.core.connections import default
from stillflow.layers.core.layer import Layer
from stillflow.layers.core.layer_names import find_layer
from stillflow.layers.core.nodes import Node
from stillflow.names import public
from stillflow.platform import logging


def _is_functional(args, kwargs):
    return len(args) == 2 or (len(args) == 1 and "outputs" in kwargs) or ("inputs" in kwargs and "outputs" in kwargs)


@public("python.keras.engine.network.Network")
class Network(WeightFiles, Layer):
    """Layers that are connected: made of inputs and outputs, or of a `call` that subclasses have.

    Args:
      inputs, outputs: tensors, or structures of them.
      name: the name.
      trainable: whether its variables are to be trained.
    """

    _is_graph_network: Any

    def __init__(self, *args, **kwargs):
        if _is_functional(args, kwargs):
            self._init_graph_network(*args, **kwargs)
        else:
            self._init_subclassed_network(**kwargs)
        refuse_layers_of_scopes(self.layers)

    @untracked
    def _base_init(self, name=None, **kwargs):
        for key in kwargs:
            if key not in ("trainable", "dtype", "dynamic", "autocast"):
                raise TypeError("Keyword argument not understood:", key)
        Layer.__init__(self, name=name, **kwargs)
        self._layers = []
        self._is_compiled = False
        self._compute_output_and_mask_jointly = False
        if not hasattr(self, "optimizer"):
            self.optimizer = None
        self._graph = get_default_graph()

    @untracked
    def _init_graph_network(self, inputs, outputs, name=None, **kwargs):
        for key in kwargs:
            if key != "trainable":
                raise TypeError(
                    "Functional models may only specify `name` and `trainable` keyword arguments during "
                    f"initialization. Got an unexpected argument: {key}"
                )
        self._nested_inputs = _single(inputs)
        self._nested_outputs = _single(outputs)
        self.inputs = nest.flatten(self._nested_inputs)
        self.outputs = nest.flatten(self._nested_outputs)
        if not all(hasattr(tensor, "_keras_history") for tensor in self.outputs):
            create_keras_history(self._nested_outputs)
        self._base_init(name=name, **kwargs)
        self._check_inputs_and_outputs()
        self.built = True
        self._compute_output_and_mask_jointly = True
        self._is_graph_network = True
        self._autocast = False  # its layers do
        self._output_shape_cache = {}
        self._input_coordinates = [tuple(tensor._keras_history) for tensor in self.inputs]
        self._output_coordinates = [tuple(tensor._keras_history) for tensor in self.outputs]
        self._input_layers = [layer for layer, _, _ in self._input_coordinates]
        self._output_layers = [layer for layer, _, _ in self._output_coordinates]
        self._network_nodes, self._nodes_by_depth, self._layers = map_graph_network(self.inputs, self.outputs)
        self._track_layers(self._layers)
        Node(self, self._nested_inputs, self._nested_outputs, is_source=True)
        self._set_output_names()
        self.input_names = [layer.name for layer in self._input_layers]
        fed = [layer for layer in self._input_layers if layer.is_placeholder]
        self._feed_input_names = [layer.name for layer in fed]
        self._feed_input_shapes = [layer._batch_input_shape for layer in fed]
        self._feed_inputs = [layer.input for layer in fed]

    @untracked
    def _init_subclassed_network(self, name=None, **kwargs):
        self._base_init(name=name, **kwargs)
        self._is_graph_network = False
        self.outputs = []
        self.inputs = []
        self.built = False

    def _set_output_names(self):
        names: list = []
        counts: dict = {}
        for layer in self._output_layers:
            proposal = layer.name
            while proposal in names:
                count = counts.get(layer.name, 1)
                proposal = f"{layer.name}_{count}"
                counts[layer.name] = count + 1
            names.append(proposal)
        self.output_names = names

    def _check_inputs_and_outputs(self):
        kind = type(self).__name__
        if len({id(tensor) for tensor in self.inputs}) != len(self.inputs):
            raise ValueError(
                "The list of inputs passed to the model is redundant. All inputs should only appear once. Found: "
                f"{self.inputs}"
            )
        for tensor in self.inputs:
            if not hasattr(tensor, "_keras_history"):
                raise ValueError(
                    f"Input tensors to a {kind} must come from `tf.keras.Input`. Received: {tensor} (missing "
                    "previous "
                    "layer metadata)."
                )
            layer = tensor._keras_history.layer
            if len(layer._inbound_nodes) > 1 or (layer._inbound_nodes and layer._inbound_nodes[0].inbound_layers):
                logging.warning(
                    f"{kind} inputs must come from `tf.keras.Input` (thus holding past layer metadata), they "
                    "cannot be "
                    "the output of a previous non-Input layer. Here, a tensor specified as input to "
                    f'"{self.name}" was not an Input tensor, it was generated by layer {layer.name}.\nNote that '
                    "input "
                    "tensors are instantiated via `tensor = tf.keras.Input(shape)`.\nThe tensor that caused the "
                    "issue "
                    f"was: {tensor.name}"
                )
        sizes = [static_batch_size(tensor._keras_history.layer) for tensor in self.inputs]
        if len({size for size in sizes if size is not None}) > 1:
            raise ValueError(
                f"The specified batch sizes of the Input Layers are incompatible. Found batch sizes: {sizes}"
            )
        for tensor in self.outputs:
            if not hasattr(tensor, "_keras_history"):
                raise ValueError(
                    f"Output tensors to a {kind} must be the output of a TensorFlow `Layer` (thus holding past layer "
                    f"metadata). Found: {tensor}"
                )

    # ---- Attributes -----------------------------------------------------------------------------------------

    def __setattr__(self, name, value):
        if not self.__dict__.get("_self_setattr_tracking", True) or self.__dict__.get("_is_graph_network"):
            object.__setattr__(self, name, value)
            return
        values = nest.flatten(value)
        if all(isinstance(each, Layer) for each in values) and "_is_graph_network" not in self.__dict__:
            raise RuntimeError(
                "It looks like you are subclassing `Model` and you forgot to call `super(YourClass, "
                "self).__init__()`. "
                "Always start with this line."
            )
        super().__setattr__(name, value)
        if getattr(value, "_is_metric", False):
            self._metrics.append(value)

    def _track_layers(self, layers):
        """Makes the layers dependencies that are saved: under their number, and under that of those with weights."""
        count = 0
        for index, layer in enumerate(layers):
            try:
                if layer.weights:
                    self._track_trackable(layer, name=f"layer_with_weights-{count}", overwrite=True)
                    count += 1
            except ValueError:  # of a subclassed model without weights yet
                pass
            self._track_trackable(layer, name=f"layer-{index}", overwrite=True)

    @property
    def layers(self):
        """A list of the layers."""
        return self._inner_layers()

    def get_layer(self, name=None, index=None):
        """The layer of that name, or number. Raises ValueError if there is none."""
        return find_layer(self.layers, name, index)

    @property
    def dynamic(self):
        return self._dynamic or any(layer.dynamic for layer in self.layers)

    @property
    def stateful(self):  # type: ignore[override]
        return any(getattr(layer, "stateful", False) for layer in self.layers)

    def reset_states(self):
        """Resets the state of the layers that keep one from batch to batch."""
        for layer in self.layers:
            if hasattr(layer, "reset_states") and getattr(layer, "stateful", False):
                layer.reset_states()

    @property
    def state_updates(self):
        """A list of the updates of layers that keep a state: they are to be run whenever the model is."""
        return [update for layer in self.layers if getattr(layer, "stateful", False) for update in layer.updates]

    @property
    def weights(self):
        """A list of all variables. Raises ValueError if they have not been made yet."""
        self._assert_weights_created()
        return [*self._of_inner_layers("weights"), *self._trainable_weights, *self._non_trainable_weights]

    @property
    def trainable_weights(self):
        """A list of the variables to be trained. Raises ValueError if they have not been made yet."""
        self._assert_weights_created()
        if not self.trainable:
            return []
        return self._of_inner_layers("trainable_weights") + self._trainable_weights

    @property
    def _unique_trainable_weights(self):
        """`trainable_weights`, each once: a layer may be in the model and in a model in it."""
        return list({id(weight): weight for weight in self.trainable_weights}.values())

    @property
    def non_trainable_weights(self):
        """A list of the other variables. Raises ValueError if they have not been made yet."""
        self._assert_weights_created()
        others = self._of_inner_layers("non_trainable_weights") + self._non_trainable_weights
        if self.trainable:
            return others
        return [*self._of_inner_layers("trainable_weights"), *self._trainable_weights, *others]

    def _assert_weights_created(self):
        if self.dynamic:
            return
        if not self._is_graph_network and "build" in type(self).__dict__ and not self.built:
            raise ValueError(
                f"Weights for model {self.name} have not yet been created. Weights are created when the Model is "
                "first "
                "called on inputs or `build()` is called with an `input_shape`."
            )

    @property  # type: ignore[misc]
    def input_spec(self):
        """What the inputs have to be like; None of a subclassed model."""
        if not self._is_graph_network:
            return None
        specs: list = []
        for layer in self._input_layers:
            specs += [layer.input_spec] if layer.input_spec is None else nest.flatten(layer.input_spec)
        return specs[0] if len(specs) == 1 else specs

    def _get_trainable_state(self):
        """{layer: whether it is trainable} of all layers, however deep."""
        state = {self: self.trainable}
        for layer in _all_layers(self):
            state[layer] = layer.trainable
        return state

    def _set_trainable_state(self, state):
        for layer in [self, *_all_layers(self)]:
            if layer in state:
                layer.trainable = state[layer]

    # ---- Calls ----------------------------------------------------------------------------------------------

    @default
    def build(self, input_shape):
        """Makes the variables of a subclassed model, by a call with placeholders of that shape, or list of shapes."""
        if not self._is_graph_network:
            if input_shape is None:
                raise ValueError("Input shape must be defined when calling build on a model subclass network.")
            if not isinstance(input_shape, (tuple, list, TensorShape)):
                raise ValueError(
                    "Specified input shape is not one of the valid types. Please specify a batch input shape of type "
                    f"tuple or list of input shapes. User provided input type: {type(input_shape)}"
                )
            if input_shape and not self.inputs:
                network_config.call_with_placeholders(self, input_shape)
            self._track_layers(self._layers)
        self.built = True

    def call(self, inputs, training=None, mask=None):
        """Computes the outputs of the layers."""
        if not self._is_graph_network:
            raise NotImplementedError("When subclassing the `Model` class, you should implement a `call` method.")
        return self._run_internal_graph(inputs, training=training, mask=mask)

    def compute_mask(self, inputs, mask):
        if not self._is_graph_network:
            return None
        outputs = self._run_internal_graph(inputs, mask=mask)
        return nest.map_structure(lambda tensor: tensor._keras_mask, outputs)

    def _masks_of_inputs(self, inputs):
        return super()._masks_of_inputs(inputs) if self._is_graph_network else None

    def _nodes_in_order(self):
        """The nodes that compute something, those first that others depend on."""
        for depth in sorted(self._nodes_by_depth, reverse=True):
            yield from (node for node in self._nodes_by_depth[depth] if not node.is_source)

    def _run_internal_graph(self, inputs, training=None, mask=None):
        inputs = nest.flatten(inputs)
        masks = [None] * len(inputs) if mask is None else nest.flatten(mask)
        for tensor, each in zip(inputs, masks, strict=False):
            tensor._keras_mask = each
        found = {id(known): tensor for known, tensor in zip(self.inputs, inputs, strict=False)}

        def current(value):
            is_of_layer = isinstance(value, (Tensor, CompositeTensor)) and hasattr(value, "_keras_history")
            return found[id(value)] if is_of_layer else value

        for node in self._nodes_in_order():
            if not all(id(tensor) in found for tensor in nest.flatten(node.input_tensors)):
                continue
            layer = node.outbound_layer
            arguments = dict(node.arguments or {})
            if "training" in layer._call_fn_args:
                given = arguments.setdefault("training", training)
                if isinstance(given, Tensor) and given.graph.__dict__.get("_learning_phase") is given:
                    arguments["training"] = training
            arguments = nest.map_structure(current, arguments)
            outputs = layer(nest.map_structure(lambda t: found[id(t)], node.input_tensors), **arguments)
            for known, tensor in zip(nest.flatten(node.output_tensors), nest.flatten(outputs), strict=False):
                found[id(known)] = tensor
        for tensor in self.outputs:
            if id(tensor) not in found:
                raise AssertionError(f"Could not compute output {tensor}")
        return nest.pack_sequence_as(self._nested_outputs, [found[id(tensor)] for tensor in self.outputs])

    def compute_output_shape(self, input_shape):
        """The shapes of the outputs for inputs of those shapes. Raises ValueError if there are not as many inputs."""
        if not self._is_graph_network:
            return super().compute_output_shape(input_shape)
        return network_config.output_shape_of(self, input_shape)

    # ---- Losses and metrics of functional models ------------------------------------------------------------

    def _add_symbolic_loss(self, loss):
        if self._is_graph_network and not call_context.in_call:
            nodes, layers = map_subgraph_network(self.inputs, [loss])
            self._insert_added(AddLoss(unconditional=False), loss, nodes, layers)
        else:
            super()._add_symbolic_loss(loss)

    def _graph_network_add_metric(self, value, aggregation, name):
        nodes, layers = map_subgraph_network(self.inputs, [value])
        self._insert_added(AddMetric(aggregation, name), value, nodes, layers)

    def _insert_added(self, layer, tensor, nodes, layers):
        layer(tensor)
        self._insert_layers([*layers, layer], [*nodes, *layer.inbound_nodes])

    def _insert_layers(self, layers, relevant_nodes=None):
        """Takes layers in that only losses and metrics, or nothing, depend on."""
        network_config.insert_layers(self, nest.flatten(layers), relevant_nodes)

    # ---- Plain values ---------------------------------------------------------------------------------------

    def get_config(self):
        """What to make a model like this of. Raises NotImplementedError for a subclassed model."""
        if not self._is_graph_network:
            raise NotImplementedError
        return network_config.config_of(self, node_key)

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of what `get_config` returned. `custom_objects`: {name: class or function} of the program's own."""
        return network_config.made_of_config(cls, config, custom_objects)

    @property
    def _object_identifier(self):
        return "_tf_keras_network"


def _single(tensors):
    return tensors[0] if isinstance(tensors, list) and len(nest.flatten(tensors)) == 1 else tensors


def _all_layers(network):
    for layer in network._inner_layers():
        yield layer
        yield from _all_layers(layer)


def refuse_layers_of_scopes(layers):
    """Raises TypeError for layers of tf.layers, whose variables depend on variable scopes."""
    wrong = [layer for layer in layers if getattr(layer, "_is_legacy_layer", False) and not layer._keras_style]
    if wrong:
        text = "\n".join(f"  {layer}" for layer in wrong)
        raise TypeError(
            f"The following are legacy tf.layers.Layers:\n{text}\nTo use keras as a framework (for instance using "
            "the Network, Model, or Sequential classes), please use the tf.keras.layers implementation instead. (Or, "
            "if writing custom layers, subclass from tf.keras.layers rather than tf.layers)"
        )

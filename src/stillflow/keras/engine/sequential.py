"""Sequential: a model that is a chain of layers."""

from __future__ import annotations

import copy
from typing import Any

from stillflow.graph import nest
from stillflow.keras.engine.inputs import Input, InputLayer, get_source_inputs
from stillflow.keras.engine.model import Model
from stillflow.keras.engine.network import refuse_layers_of_scopes
from stillflow.keras.engine.shapes import input_shape_and_dtype
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.connections import default
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.platform import logging


@public("keras.Sequential", "keras.models.Sequential")
class Sequential(Model):
    """A chain of layers.

    Args:
      layers: a list of layers. The first may say the shape of its inputs, else the variables are made when the model
        is first called.
      name: the name.
    """

    _build_input_shape: Any

    @untracked
    def __init__(self, layers=None, name=None):
        super().__init__(name=name)
        self.supports_masking = True
        self._build_input_shape = None
        self._compute_output_and_mask_jointly = True
        if layers:
            layers = layers if isinstance(layers, (list, tuple)) else [layers]
            refuse_layers_of_scopes(layers)
            for layer in layers:
                self.add(layer)

    @property
    def layers(self):
        """A list of the layers, without the input."""
        found = self._inner_layers()
        return found[1:] if found and isinstance(found[0], InputLayer) else found

    @property
    def dynamic(self):
        return any(layer.dynamic for layer in self.layers)

    @untracked
    def add(self, layer):
        """Adds a layer at the end.

        Raises:
          TypeError: for what is no layer, and for one with several outputs.
          ValueError: for a first layer with several outputs.
        """
        if hasattr(layer, "_keras_history") and isinstance(layer._keras_history.layer, InputLayer):
            layer = layer._keras_history.layer
        if not isinstance(layer, Layer):
            raise TypeError(f"The added layer must be an instance of class Layer. Found: {layer}")
        refuse_layers_of_scopes([layer])
        self.__dict__.pop("_step_functions", None)
        self.built = False
        begins = False
        if not self._layers:
            begins = self._begin_with(layer)
        elif self.outputs:
            output = layer(self.outputs[0])
            if len(nest.flatten(output)) != 1:
                raise TypeError(
                    "All layers in a Sequential model should have a single output tensor. For multi-output layers, "
                    "use "
                    "the functional API."
                )
            self.outputs = [output]
        if self.outputs:
            self.built = True
        if begins or self._is_graph_network:
            self._init_graph_network(self.inputs, self.outputs, name=self.name)
        else:
            self._layers.append(layer)
        if self._layers:
            self._track_layers(self._layers)

    def _begin_with(self, layer):
        """Whether the first layer says what its inputs are."""
        if not isinstance(layer, InputLayer):
            batch_shape, dtype = input_shape_and_dtype(layer)
            if not batch_shape:
                return False
            layer(Input(batch_shape=batch_shape, dtype=dtype, name=f"{layer.name}_input"))
        outputs = nest.flatten(layer._inbound_nodes[-1].output_tensors)
        if len(outputs) != 1:
            raise ValueError(
                "All layers in a Sequential model should have a single output tensor. For multi-output layers, use "
                "the "
                "functional API."
            )
        self.outputs = outputs
        self.inputs = get_source_inputs(outputs[0])
        return True

    @untracked
    def pop(self):
        """Removes the last layer. Raises TypeError if there is none."""
        if not self.layers:
            raise TypeError("There are no layers in the model.")
        self.__dict__.pop("_step_functions", None)
        self._layers.pop()
        if not self.layers:
            self.outputs = self.inputs = None
            self.built = False
        elif self._is_graph_network:
            self.layers[-1]._outbound_nodes = []
            self.outputs = [self.layers[-1].output]
            self._init_graph_network(self.inputs, self.outputs, name=self.name)

    @default
    def build(self, input_shape=None):
        """Makes the variables, for inputs of that shape. Raises ValueError without one, if it is needed."""
        if self._is_graph_network:
            self._init_graph_network(self.inputs, self.outputs, name=self.name)
        else:
            if input_shape is None:
                raise ValueError("You must provide an `input_shape` argument.")
            self._build_input_shape = tuple(input_shape)
            super().build(self._build_input_shape)
        self.built = True

    def call(self, inputs, training=None, mask=None):
        """Computes the outputs of the layers."""
        if self._is_graph_network:
            if not self.built:
                self._init_graph_network(self.inputs, self.outputs, name=self.name)
            return super().call(inputs, training=training, mask=mask)
        for layer in self.layers:
            arguments = {}
            if "mask" in layer._call_fn_args:
                arguments["mask"] = mask
            if "training" in layer._call_fn_args:
                arguments["training"] = training
            inputs = layer(inputs, **arguments)
            mask = getattr(inputs, "_keras_mask", None)
        return inputs

    def compute_output_shape(self, input_shape):
        for layer in self.layers:
            input_shape = layer.compute_output_shape(input_shape)
        return input_shape

    def compute_mask(self, inputs, mask):
        return self.call(inputs, mask=mask)._keras_mask

    def predict_proba(self, x, batch_size=32, verbose=0):
        """The predictions; a warning, if they are no probabilities."""
        found = self.predict(x, batch_size, verbose)
        if found.min() < 0.0 or found.max() > 1.0:
            logging.warning(
                "Network returning invalid probability values. The last layer might not normalize predictions into "
                "probabilities (like softmax or sigmoid would)."
            )
        return found

    def predict_classes(self, x, batch_size=32, verbose=0):
        """The classes that are most probable."""
        found = self.predict(x, batch_size=batch_size, verbose=verbose)
        return found.argmax(axis=-1) if found.shape[-1] > 1 else (found > 0.5).astype("int32")

    def get_config(self):
        """What to make a model like this of."""
        layers = [{"class_name": type(layer).__name__, "config": layer.get_config()} for layer in self.layers]
        inner = self._inner_layers()
        if (
            self._is_graph_network
            and layers
            and "batch_input_shape" not in layers[0]["config"]
            and isinstance(inner[0], InputLayer)
        ):
            layers[0]["config"]["batch_input_shape"] = inner[0]._batch_input_shape
        config = {"name": self.name, "layers": copy.deepcopy(layers)}
        if self._build_input_shape:
            config["build_input_shape"] = self._build_input_shape
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A model of what `get_config` returned. `custom_objects`: {name: class or function} of the program's own."""
        is_dictionary = isinstance(config, dict)
        model = cls(name=config["name"] if is_dictionary else None)
        for each in config["layers"] if is_dictionary else config:
            model.add(deserialize_layer(each, custom_objects=custom_objects))
        shape = config.get("build_input_shape") if is_dictionary else None
        if not model.inputs and shape:
            model.build(shape)
        return model

    @property  # type: ignore[misc]
    def input_spec(self):
        return self.layers[0].input_spec if self.layers else None

    @property
    def _object_identifier(self):
        return "_tf_keras_sequential"

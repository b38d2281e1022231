"""Bidirectional: a recurrent layer, and another one that begins at the end."""

from __future__ import annotations

from stillflow.graph import nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.shape import TensorShape
from stillflow.keras.backend.shaping import concatenate, reverse
from stillflow.keras.backend.values import int_shape, is_keras_tensor
from stillflow.keras.layers.cells import takes
from stillflow.keras.layers.recurrent import standardized_args
from stillflow.keras.layers.wrappers import Wrapper
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public

_MERGED = {
    "concat": lambda y, y_rev: concatenate([y, y_rev]),
    "sum": lambda y, y_rev: y + y_rev,
    "ave": lambda y, y_rev: (y + y_rev) / 2,
    "mul": lambda y, y_rev: y * y_rev,
    None: lambda y, y_rev: [y, y_rev],
}


@public("keras.layers.Bidirectional")
class Bidirectional(Wrapper):
    """A recurrent layer, and one like it that begins at the end; their outputs together.

    Args:
      layer: the layer. It is made anew, of its config.
      merge_mode: "concat", "sum", "ave" or "mul"; None for a list of both outputs.
      weights: what the weights begin with, those of the first layer first.
      backward_layer: the layer that begins at the end.

    Raises:
      ValueError: for what is no layer; for layers that begin at the same end, or differ in `stateful`,
        `return_sequences` or `return_state`; for another mode.
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError(f"Please initialize `Bidirectional` layer with a `Layer` instance. You passed: {layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError(f"`backward_layer` need to be a `Layer` instance. You passed: {backward_layer}")
        if merge_mode not in _MERGED:
            raise ValueError('Invalid merge mode. Merge mode should be one of {"sum", "mul", "ave", "concat", None}')
        self.forward_layer = _made_anew(layer)
        if backward_layer is None:
            self.backward_layer = _made_anew(layer, go_backwards=True)
        else:
            self.backward_layer = backward_layer
            self.__dict__["_backward_layer_config"] = backward_layer.get_config()
        self.forward_layer._name = f"forward_{self.forward_layer.name}"
        self.backward_layer._name = f"backward_{self.backward_layer.name}"
        self._check_layers()
        for each in (self.forward_layer, self.backward_layer):
            if getattr(each, "zero_output_for_mask", None) is not None:
                each.zero_output_for_mask = each.return_sequences
        self._finish(layer, merge_mode, kwargs)
        if weights:
            half = len(weights) // 2
            self.forward_layer._initial_weights = weights[:half]
            self.backward_layer._initial_weights = weights[half:]

    @untracked
    def _finish(self, layer, merge_mode, kwargs):
        """The rest; `layer` is no layer of this one."""
        self.merge_mode = merge_mode
        self.stateful = layer.stateful
        self.return_sequences = layer.return_sequences
        self.return_state = layer.return_state
        self._num_constants = 0
        super().__init__(layer, **kwargs)
        self.supports_masking = True
        self.input_spec = layer.input_spec

    def _check_layers(self):
        if self.forward_layer.go_backwards == self.backward_layer.go_backwards:
            raise ValueError("Forward layer and backward layer should have different `go_backwards` value.")
        for name in ("stateful", "return_sequences", "return_state"):
            forward, backward = getattr(self.forward_layer, name), getattr(self.backward_layer, name)
            if forward != backward:
                raise ValueError(
                    "Forward layer and backward layer are expected to have the same value for attribute "
                    f"{name}, got {forward} and {backward}"
                )

    def build(self, input_shape):  # type: ignore[override]
        for layer in (self.forward_layer, self.backward_layer):
            with name_scope(layer.name):
                layer.build(input_shape)
        self.built = True

    def compute_output_shape(self, input_shape):
        shape = self.forward_layer.compute_output_shape(input_shape)
        states: list = []
        if self.return_state:
            shape, *states = shape
        if self.merge_mode == "concat":
            *sizes, last = TensorShape(shape).as_list()
            shape = TensorShape([*sizes, last * 2])
        shapes = [shape, shape] if self.merge_mode is None else [shape]
        return shapes + states * 2 if self.return_state or len(shapes) > 1 else shape

    # ---- Calls ----------------------------------------------------------------------------------------------

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Computes the outputs.

        Args:
          inputs: a tensor; or a list of one, and the states.
          initial_state: the states of the first layer, and those of the second.
          constants: tensors that are passed to each step.

        Raises:
          ValueError: for an odd number of states, or if only some come from layers of a model.
        """
        inputs, initial_state, constants = standardized_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more, specs = self._additional(initial_state, constants)
        of_model = is_keras_tensor(more[0])
        if any(is_keras_tensor(tensor) != of_model for tensor in more):
            raise ValueError(
                "The initial state of a Bidirectional layer cannot be specified with a mix of Keras tensors and "
                'non-Keras tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`)'
            )
        if not of_model:
            given = {"initial_state": initial_state, "constants": constants}
            given = {key: value for key, value in given.items() if value is not None}
            return super().__call__(inputs, **kwargs, **given)
        own_spec, self.input_spec = self.input_spec, [None] * len(nest.flatten(inputs)) + specs
        outputs = super().__call__([inputs, *more], initial_state=None, constants=None, **kwargs)
        self.input_spec = own_spec
        return outputs

    def _additional(self, initial_state, constants):
        more: list = []
        specs: list = []
        layers = self.forward_layer, self.backward_layer
        if initial_state is not None:
            half, odd = divmod(len(initial_state), 2)
            if odd:
                raise ValueError(
                    "When passing `initial_state` to a Bidirectional RNN, the state should be a list containing the "
                    f"states of the underlying RNNs. Found: {initial_state}"
                )
            more += initial_state
            specs += [InputSpec(shape=int_shape(state)) for state in initial_state]
            layers[0].state_spec, layers[1].state_spec = specs[:half], specs[half:]
        if constants is not None:
            more += constants
            of_constants = [InputSpec(shape=int_shape(constant)) for constant in constants]
            self._num_constants = len(constants)
            for layer in layers:
                layer.constants_spec, layer._num_constants = of_constants, self._num_constants
            specs += of_constants
        return more, specs

    def call(self, inputs, training=None, mask=None, initial_state=None, constants=None):
        given = {"training": training, "mask": mask, "constants": constants}
        given = {key: value for key, value in given.items() if takes(self.layer.call, key)}
        if takes(self.layer.call, "initial_state"):
            inputs, states, given = self._per_layer(inputs, initial_state, given)
            y = self.forward_layer(inputs[0], initial_state=states[0], **given)
            y_rev = self.backward_layer(inputs[1], initial_state=states[1], **given)
        else:
            y, y_rev = self.forward_layer(inputs, **given), self.backward_layer(inputs, **given)
        states = []
        if self.return_state:
            states = y[1:] + y_rev[1:]
            y, y_rev = y[0], y_rev[0]
        if self.return_sequences:
            y_rev = reverse(y_rev, 1)
        output = _MERGED[self.merge_mode](y, y_rev)
        if not self.return_state:
            return output
        return output + states if self.merge_mode is None else [output, *states]

    def _per_layer(self, inputs, initial_state, given):
        """(both layers' inputs, their states, other arguments) of inputs that may be a list with states."""
        if isinstance(inputs, list) and len(inputs) > 1:
            end = len(inputs) - self._num_constants
            pivot = end // 2 + 1
            constants = inputs[end:]
            if "constants" in given:
                given["constants"] = None
            inputs = [inputs[0], *inputs[1:pivot], *constants], [inputs[0], *inputs[pivot:end], *constants]
            return inputs, (None, None), given
        states = (None, None)
        if initial_state is not None:
            half = len(initial_state) // 2
            states = initial_state[:half], initial_state[half:]
        return (inputs, inputs), states, given

    def reset_states(self):
        """Sets the states of both layers to 0."""
        self.forward_layer.reset_states()
        self.backward_layer.reset_states()

    def compute_mask(self, inputs, mask):  # type: ignore[override]
        if isinstance(mask, list):
            mask = mask[0]
        found = mask if self.return_sequences else None
        found = found if self.merge_mode else [found, found]
        if not self.return_state:
            return found
        states = [None for _ in self.forward_layer.states] * 2
        return found + states if isinstance(found, list) else [found, *states]

    @property
    def constraints(self):
        """Those of both layers, where they have any of that name."""
        found: dict = {}
        for layer in (self.forward_layer, self.backward_layer):
            found.update(getattr(layer, "constraints", {}))
        return found

    # ---- Plain values ---------------------------------------------------------------------------------------

    def get_config(self):
        config = {**super().get_config(), "merge_mode": self.merge_mode}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if "_backward_layer_config" in self.__dict__:
            kind = type(self.backward_layer).__name__
            config["backward_layer"] = {"class_name": kind, "config": self.__dict__["_backward_layer_config"]}
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer of what `get_config` returned."""
        config = dict(config)
        count = config.pop("num_constants", 0)
        backward = config.pop("backward_layer", None)
        if backward is not None:
            config["backward_layer"] = deserialize_layer(backward, custom_objects=custom_objects)
        layer = super().from_config(config, custom_objects=custom_objects)
        layer._num_constants = count
        return layer


def _made_anew(layer, go_backwards=False):
    config = layer.get_config()
    if go_backwards:
        config["go_backwards"] = not config["go_backwards"]
    if not takes(type(layer).from_config, "custom_objects"):
        return type(layer).from_config(config)
    cell = getattr(layer, "cell", None)
    cells = [] if cell is None else [cell, *getattr(cell, "cells", [])]
    return type(layer).from_config(config, custom_objects={type(each).__name__: type(each) for each in cells})

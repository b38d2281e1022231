"""RNN: a cell along the time axis of its inputs."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph import nest
from stillflow.graph.shape import TensorShape, as_shape
from stillflow.keras.backend.recurrence import rnn
from stillflow.keras.backend.values import batch_set_value, int_shape, is_keras_tensor, set_value, zeros
from stillflow.keras.layers.cells import StackedRNNCells, is_multiple, takes, zero_state
from stillflow.keras.serialization import deserialize_layer
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.input_spec import InputSpec
from stillflow.layers.core.layer import Layer
from stillflow.names import public
from stillflow.variables import assignments


def _as_list(value):
    return value if isinstance(value, list) else [value]


def _shape_of_one(shape):
    """A TensorShape, or the structure of shapes as it is."""
    try:
        return as_shape(shape)
    except (ValueError, TypeError):
        return shape


def standardized_args(inputs, initial_state, constants, num_constants):
    """(inputs, initial states or None, constants or None) of inputs that may be a list of all of them."""
    if isinstance(inputs, list):
        if num_constants:
            constants, inputs = inputs[-num_constants:], inputs[:-num_constants]
        if len(inputs) > 1:
            initial_state, inputs = inputs[1:], inputs[:1]
        inputs = tuple(inputs) if len(inputs) > 1 else inputs[0]

    def listed(value):
        return (
            value
            if value is None or isinstance(value, list)
            else list(value)
            if isinstance(value, tuple)
            else [value]
        )

    return inputs, listed(initial_state), listed(constants)


@public("keras.layers.RNN")
class RNN(Layer):
    """A cell along the time axis of inputs [batch, time, ...].

    Args:
      cell: an object with `call(inputs, states)`, which returns a step's output and the next states, and
        `state_size`; or a list of such.
      return_sequences: whether to return the outputs of all steps, rather than the last.
      return_state: whether to return the last states, too.
      go_backwards: whether to begin at the end.
      stateful: whether each batch begins with the states that the last one ended with. The batch size has to be
        known then.
      unroll: whether each step has nodes of its own, rather than a loop.
      time_major: whether inputs and outputs are [time, batch, ...].
      zero_output_for_mask: whether outputs of masked steps are 0, rather than that of the step before.

    A call may have `mask`, `training`, `initial_state` and `constants`, which are passed to each step.

    Raises:
      ValueError: for a cell without `call` or `state_size`.
    """

    def __init__(
        self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
        time_major=False, **kwargs,
    ):  # fmt: skip
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if not hasattr(cell, "call"):
            raise ValueError("`cell` should have a `call` method. The RNN was passed:", cell)
        if not hasattr(cell, "state_size"):
            raise ValueError(
                "The RNN cell should have an attribute `state_size` (tuple of integers, one integer per RNN state)."
            )
        self.zero_output_for_mask = kwargs.pop("zero_output_for_mask", False)
        if "input_shape" not in kwargs and ("input_dim" in kwargs or "input_length" in kwargs):
            kwargs["input_shape"] = (kwargs.pop("input_length", None), kwargs.pop("input_dim", None))
        super().__init__(**kwargs)
        self.cell = cell
        self.return_sequences = return_sequences
        self.return_state = return_state
        self.go_backwards = go_backwards
        self.stateful = stateful
        self.unroll = unroll
        self.time_major = time_major
        self.supports_masking = True
        self.input_spec = None
        self.state_spec = None
        self._states = None
        self.constants_spec = None
        self._num_constants = 0

    @property
    def states(self):
        """The states that the last batch ended with; None for each, where that is not known."""
        if self._states is None:
            unknown = nest.map_structure(lambda _: None, self.cell.state_size)
            return unknown if nest.is_nested(self.cell.state_size) else [unknown]
        return self._states

    @states.setter
    @untracked
    def states(self, states):
        self._states = states

    # ---- Shapes and masks -----------------------------------------------------------------------------------

    @property
    def _state_sizes(self):
        size = self.cell.state_size
        return list(size) if is_multiple(size) else [size]

    def compute_output_shape(self, input_shape):
        if isinstance(input_shape, list):
            input_shape = input_shape[0]
        shape = _shape_of_one(input_shape)
        if not isinstance(shape, TensorShape):
            shape = as_shape(nest.flatten(shape)[0])
        batch, steps = shape.as_list()[:2][::-1] if self.time_major else shape.as_list()[:2]

        def output_shape(size):
            sizes = as_shape(size).as_list()
            if not self.return_sequences:
                return TensorShape([batch, *sizes])
            return TensorShape([steps, batch, *sizes] if self.time_major else [batch, steps, *sizes])

        if getattr(self.cell, "output_size", None) is not None:
            outputs = [output_shape(size) for size in nest.flatten(self.cell.output_size)]
            outputs = outputs[0] if len(outputs) == 1 else outputs
        else:
            outputs = output_shape(self._state_sizes[0])
        if not self.return_state:
            return outputs
        states = [TensorShape([batch, *as_shape(size).as_list()]) for size in nest.flatten(self._state_sizes)]
        return _as_list(outputs) + states

    def compute_mask(self, inputs, mask):  # type: ignore[override]
        mask = nest.flatten(mask)[0]
        output_mask = mask if self.return_sequences else None
        return [output_mask, *(None for _ in self.states)] if self.return_state else output_mask

    # ---- Variables ------------------------------------------------------------------------------------------

    def build(self, input_shape):
        shape = _shape_of_one(input_shape[0] if isinstance(input_shape, list) else input_shape)
        if isinstance(shape, TensorShape):
            spec, step_shape = [self._spec_of_input(shape)], self._shape_of_step(shape)
        else:
            spec = _as_list(nest.map_structure(self._spec_of_input, shape))
            step_shape = nest.map_structure(self._shape_of_step, shape)
        if self.input_spec is None:
            self.input_spec = spec
        else:
            self.input_spec[0] = spec[0]
        if isinstance(self.cell, Layer) and not self.cell.built:
            self.cell.build(step_shape)
        if self.state_spec is None:
            self.state_spec = [InputSpec(shape=[None, *as_shape(size).as_list()]) for size in self._flat_sizes()]
        else:
            self._check_state_spec()
        if self.stateful:
            self.reset_states()
        self.built = True

    def _flat_sizes(self):
        return nest.flatten(self._state_sizes)

    def _spec_of_input(self, shape):
        sizes = as_shape(shape).as_list()
        if not self.stateful:
            sizes[1 if self.time_major else 0] = None
        sizes[0 if self.time_major else 1] = None
        return InputSpec(shape=tuple(sizes))

    def _shape_of_step(self, shape):
        sizes = as_shape(shape).as_list()
        return TensorShape(sizes[1:] if self.time_major else [sizes[0], *sizes[2:]])

    def _check_state_spec(self):
        sizes, specs = self._flat_sizes(), nest.flatten(self.state_spec)
        if len(sizes) != len(specs) or not all(
            TensorShape(spec.shape[1:]).is_compatible_with(as_shape(size))
            for size, spec in zip(sizes, specs, strict=True)
        ):
            raise ValueError(
                "An `initial_state` was passed that is not compatible with `cell.state_size`. Received "
                f"`state_spec`={self.state_spec}; however `cell.state_size` is {self._state_sizes}"
            )

    # ---- States ---------------------------------------------------------------------------------------------

    def get_initial_state(self, inputs):
        """A list of the states that the cell begins with."""
        first = nest.flatten(inputs)[0]
        batch_size = ops.shape(first)[1 if self.time_major else 0]
        make = getattr(self.cell, "get_initial_state", None)
        if make:
            states = make(inputs=None, batch_size=batch_size, dtype=first.dtype)
        else:
            states = zero_state(batch_size, self.cell.state_size, first.dtype)
        return list(states) if nest.is_nested(states) else [states]

    def reset_states(self, states=None):
        """Sets the states of a stateful layer to 0, or to arrays.

        Raises:
          AttributeError: for a layer that is not stateful.
          ValueError: if the batch size is not known; for other shapes, or another number of states.
        """
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        shape = None if self.input_spec is None else nest.flatten(self.input_spec)[0].shape
        batch_size = None if shape is None else shape[1 if self.time_major else 0]
        if not batch_size:
            raise ValueError(
                "If a RNN is stateful, it needs to know its batch size. Specify the batch size of your input "
                "tensors: \n- If using a Sequential model, specify the batch size by passing a `batch_input_shape` "
                "argument to your first layer.\n- If using the functional API, specify the batch size by passing a "
                "`batch_shape` argument to your Input layer."
            )
        flat = nest.flatten(self.states)
        if flat[0] is None:
            made = nest.map_structure(
                lambda size: zeros([batch_size, *as_shape(size).as_list()]), self.cell.state_size
            )
            self.states = made if nest.is_nested(made) else [made]
        elif states is None:
            for state, size in zip(flat, nest.flatten(self.cell.state_size), strict=True):
                set_value(state, np.zeros([batch_size, *as_shape(size).as_list()]))
        else:
            self._set_states(flat, nest.flatten(states), states, batch_size)

    def _set_states(self, states, values, given, batch_size):
        if len(values) != len(states):
            raise ValueError(
                f"Layer {self.name} expects {len(states)} states, but it received {len(values)} state values. Input "
                f"received: {given}"
            )
        for i, (value, state) in enumerate(zip(values, states, strict=True)):
            if tuple(value.shape) != tuple(state.shape.as_list()):
                raise ValueError(
                    f"State {i} is incompatible with layer {self.name}: expected shape={(batch_size, state)}, found "
                    f"shape={value.shape}"
                )
        batch_set_value(list(zip(states, values, strict=True)))

    # ---- Calls ----------------------------------------------------------------------------------------------

    def __call__(self, inputs, initial_state=None, constants=None, **kwargs):
        """Computes the outputs. Raises ValueError if only some states and constants come from layers of a model."""
        inputs, initial_state, constants = standardized_args(inputs, initial_state, constants, self._num_constants)
        if initial_state is None and constants is None:
            return super().__call__(inputs, **kwargs)
        more, specs = self._additional(initial_state, constants)
        flat = nest.flatten(more)
        of_model = is_keras_tensor(flat[0])
        if any(is_keras_tensor(tensor) != of_model for tensor in flat):
            raise ValueError(
                "The initial state or constants of an RNN layer cannot be specified with a mix of Keras tensors and "
                'non-Keras tensors (a "Keras tensor" is a tensor that was returned by a Keras layer, or by `Input`)'
            )
        if of_model:
            self.input_spec = _as_list(nest.map_structure(lambda _: None, inputs)) + specs
            outputs = super().__call__([inputs, *more], **kwargs)
            self.input_spec = self.input_spec[: -len(specs)]
            return outputs
        given = {"initial_state": initial_state, "constants": constants}
        given = {key: value for key, value in given.items() if value is not None}
        return super().__call__(inputs, **kwargs, **given)

    def _additional(self, initial_state, constants):
        more: list = []
        specs: list = []
        if initial_state is not None:
            more += initial_state
            self.state_spec = nest.map_structure(lambda state: InputSpec(shape=int_shape(state)), initial_state)
            specs += self.state_spec
        if constants is not None:
            more += constants
            self.constants_spec = [InputSpec(shape=int_shape(constant)) for constant in constants]
            self._num_constants = len(constants)
            specs += self.constants_spec
        return more, specs

    def call(self, inputs, mask=None, training=None, initial_state=None, constants=None):
        inputs, initial_state, constants = self._process_inputs(inputs, initial_state, constants)
        if mask is not None:
            mask = nest.flatten(mask)[0]
        self._check_unrolling(int_shape(nest.flatten(inputs)[0]))
        last, outputs, states = rnn(
            self._step(training, constants), inputs, initial_state, constants=constants,
            go_backwards=self.go_backwards, mask=mask, unroll=self.unroll, time_major=self.time_major,
            zero_output_for_mask=self.zero_output_for_mask, input_length=self._step_limit(inputs),
        )  # fmt: skip
        self._note_runtime()
        if self.stateful:
            pairs = zip(nest.flatten(self.states), nest.flatten(states), strict=True)
            self.add_update([assignments.assign(variable, state) for variable, state in pairs])
        outputs = outputs if self.return_sequences else last
        return _as_list(outputs) + list(states) if self.return_state else outputs

    def _step_limit(self, inputs):
        """The greatest number of steps that the loop is told; None for none."""

    def _note_runtime(self):
        """Adds what says which kernels ran, for layers that could run on cuDNN's."""

    def _check_unrolling(self, shape):
        if self.unroll and shape[0 if self.time_major else 1] is None:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, specify "
                "the time dimension by passing an `input_shape` or `batch_input_shape` argument to your first layer. "
                "If your first layer is an Embedding, you can also use the `input_length` argument.\n- If using the "
                "functional API, specify the time dimension by passing a `shape` or `batch_shape` argument to your "
                "Input layer."
            )

    def _step(self, training, constants):
        """What happens at each step, as a function of inputs, and states and constants."""
        cell = self.cell
        given = {"training": training} if takes(cell.call, "training") else {}
        if constants and not takes(cell.call, "constants"):
            raise ValueError("RNN cell does not support constants")
        count = self._num_constants if constants else 0

        def step(inputs, states):
            more = dict(given)
            if count:
                more["constants"], states = states[-count:], states[:-count]
            if len(states) == 1 and hasattr(cell, "_is_tf_rnn_cell"):
                states = states[0]
            output, new_states = cell.call(inputs, states, **more)
            return output, new_states if nest.is_nested(new_states) else [new_states]

        return step

    def _process_inputs(self, inputs, initial_state, constants):
        """(inputs, initial states, constants) of inputs that may be a list of all of them."""
        if isinstance(inputs, list):
            if self._num_constants:
                initial_state, constants = inputs[1 : -self._num_constants], inputs[-self._num_constants :]
            else:
                initial_state = inputs[1:]
            initial_state = initial_state or None
            inputs = inputs[0]
        if initial_state is None:
            initial_state = self.states if self.stateful else self.get_initial_state(inputs)
        if len(initial_state) != len(self.states):
            raise ValueError(
                f"Layer has {len(self.states)} states but was passed {len(initial_state)} initial states."
            )
        return inputs, initial_state, constants

    # ---- Plain values ---------------------------------------------------------------------------------------

    def _config_of_loop(self):
        keys = ("return_sequences", "return_state", "go_backwards", "stateful", "unroll", "time_major")
        config = {**super().get_config(), **{key: getattr(self, key) for key in keys}}
        if self._num_constants:
            config["num_constants"] = self._num_constants
        if self.zero_output_for_mask:
            config["zero_output_for_mask"] = self.zero_output_for_mask
        return config

    def get_config(self):
        cell = {"class_name": type(self.cell).__name__, "config": self.cell.get_config()}
        return {**self._config_of_loop(), "cell": cell}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """A layer of what `get_config` returned."""
        cell = deserialize_layer(config.pop("cell"), custom_objects=custom_objects)
        count = config.pop("num_constants", 0)
        layer = cls(cell, **config)
        layer._num_constants = count
        return layer

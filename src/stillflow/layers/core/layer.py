"""Layer: a function with variables, which it makes when it is first called."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any

import numpy as np

from stillflow import ops
from stillflow.eager.variable import EagerVariable
from stillflow.graph import dtypes, nest
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.graph.shape import TensorShape
from stillflow.graph.unknown_values import OperatorNotAllowedInGraphError
from stillflow.layers.core import constraints, initializers, regularizers, symbols
from stillflow.layers.core.attributes import untracked
from stillflow.layers.core.branches import refuse_in_branch
from stillflow.layers.core.call_context import call_context, training_of_outermost_layer
from stillflow.layers.core.connections import default
from stillflow.layers.core.input_spec import InputSpec, assert_input_compatibility
from stillflow.layers.core.layer_names import to_snake_case, unique_object_name
from stillflow.layers.core.nodes import have_history, make_histories
from stillflow.layers.core.output_shape import found_output_shape, output_signature, placeholders_of_outputs
from stillflow.layers.core.policies import v2_dtype_behavior_enabled
from stillflow.layers.core.saved import Saved
from stillflow.layers.core.settings import floatx
from stillflow.layers.core.typed import Typed
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver import weight_values
from stillflow.tracking.base import Trackable
from stillflow.variables.cast_variable import AutoCastVariable
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.partitioned_variables import PartitionedVariable
from stillflow.variables.variable import Variable

_OPTIONS = {"input_shape", "batch_input_shape", "batch_size", "weights", "activity_regularizer", "autocast"}


def _in_graph(output):
    """What a call in a graph returned, as a tensor of the graph: it may be a variable of eager execution."""
    return ops.identity(output) if isinstance(output, EagerVariable) else output


@public("keras.layers.Layer")
class Layer(Typed, Saved):
    """A function with variables, which it makes when it is first called.

    Subclasses have `build`, which makes variables with `add_weight` once the shape of the inputs is known, and
    `call`, which computes the outputs.

    Args:
      trainable: whether its variables are to be trained, and its updates to be run.
      name: its name; by default its class in snake case, numbered.
      dtype: the type of its variables, or a tf.keras.mixed_precision.experimental.Policy; by default that of its
        first input.
      dynamic: whether it can only be called eagerly.
      input_shape, batch_input_shape, batch_size: what a model that begins with this layer takes.
      weights: arrays that its variables get when they are made.
      activity_regularizer: a function from the outputs to a loss.
      autocast: whether inputs are cast to the type that it computes with; by default not, as in TensorFlow 1.
    """

    _use_resource = True
    _keras_style = True  # its variables do not depend on variable scopes
    stateful = False  # whether its updates count even if it is not trainable
    _input_spec: Any = None

    @untracked
    def __init__(self, trainable=True, name=None, dtype=None, dynamic=False, **kwargs):
        for key in kwargs:
            if key not in _OPTIONS:
                raise TypeError("Keyword argument not understood:", key)
        super().__init__()
        self._trainable = trainable
        self.built = False
        self.supports_masking = False
        self._init_set_name(name)
        self._activity_regularizer = kwargs.get("activity_regularizer")
        for key in ("_layers", "_trainable_weights", "_non_trainable_weights"):
            self.__dict__.setdefault(key, [])  # subclasses may have set attributes before
        self._set_dtype_policy(dtype)
        self._autocast = kwargs.get("autocast", v2_dtype_behavior_enabled())
        self._inbound_nodes = []
        self._outbound_nodes = []
        self._dynamic = dynamic
        if "batch_input_shape" in kwargs:
            self._batch_input_shape = tuple(kwargs["batch_input_shape"])
        elif "input_shape" in kwargs:
            self._batch_input_shape = (kwargs.get("batch_size"), *kwargs["input_shape"])
        self._initial_weights = kwargs.get("weights")

    def _init_set_name(self, name, zero_based=True):
        self._name = name or unique_object_name(to_snake_case(type(self).__name__), zero_based=zero_based)

    # ---- For subclasses -------------------------------------------------------------------------------------

    @default
    def build(self, input_shape):
        """Makes the variables, for inputs of that shape, or list of shapes."""
        self.built = True

    @default
    def call(self, inputs, **kwargs):
        """Computes the outputs."""
        return inputs

    def add_weight(
        self, name=None, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, constraint=None,
        partitioner=None, use_resource=None, synchronization=VariableSynchronization.AUTO,
        aggregation=VariableAggregation.NONE, **kwargs,
    ):  # fmt: skip
        """Makes a variable, or finds it, and returns it.

        Args:
          name: the variable's name.
          shape: its shape; scalar by default.
          dtype: its type; the layer's by default.
          initializer: a callable or a name; by default glorot_uniform, or zeros for types that are not floating.
          regularizer: a function from the variable to a loss.
          trainable: whether it is among the layer's trainable weights.
          constraint: a function from the value after an update to the value to keep.
          partitioner: a function from shape and type to the number of parts along each axis.
          use_resource: whether it is a resource variable.
          synchronization, aggregation: how the copies of a distributed variable are brought together.
          getter: what makes the variable. collections: the collections to add it to. experimental_autocast: False
            for a variable that is always read as it is, also by a layer that computes with another type.

        Raises:
          TypeError: for another argument.
          ValueError: without an initializer, for a type that needs one; for a trainable variable that is read from
            copies.
        """
        for key in kwargs:
            if key not in ("getter", "collections", "experimental_autocast"):
                raise TypeError("Unknown keyword argument:", key)
        dtype = dtypes.as_dtype(dtype or self.dtype or floatx())
        if self.dtype is None:
            self._dtype = dtype.base_dtype
        trainable = is_trainable(trainable, synchronization)
        initializer = initializers.get(initializer)
        variable = kwargs.get("getter", make_variable)(
            name=name, shape=() if shape is None else shape, dtype=dtype,
            initializer=self._default_initializer(name, dtype) if initializer is None else initializer,
            constraint=constraints.get(constraint), trainable=trainable, partitioner=partitioner,
            use_resource=use_resource, collections=kwargs.get("collections"), synchronization=synchronization,
            aggregation=aggregation,
        )  # fmt: skip
        if (
            kwargs.get("experimental_autocast", True)
            and self._dtype_policy.should_cast_variables
            and dtype.is_floating
        ):
            variable = AutoCastVariable(variable)
        if isinstance(variable, Trackable):
            self._track_trackable(variable, name=name, overwrite=True)
        weight_values.made(variable)
        regularizer = regularizers.get(regularizer)
        if regularizer is not None:
            self._handle_weight_regularization(variable.name.partition(":")[0], variable, regularizer)
        (self._trainable_weights if trainable else self._non_trainable_weights).append(variable)
        return variable

    def _default_initializer(self, name, dtype):
        if dtype.is_floating:
            return initializers.get("glorot_uniform")
        if dtype.is_integer or dtype.is_bool:
            return initializers.get("zeros")
        raise ValueError(
            f"An initializer for variable {name} of type {dtype.base_dtype} is required for layer {self.name}"
        )

    def _handle_weight_regularization(self, name, variable, regularizer):
        def loss_of(part):
            with name_scope(f"{name}/Regularizer"):
                return regularizer(part)

        for part in variable if isinstance(variable, PartitionedVariable) else [variable]:
            self.add_loss(functools.partial(loss_of, part))

    @default
    def compute_output_shape(self, input_shape):
        """The shape of the outputs for inputs of that shape. Raises NotImplementedError if it is not known."""
        return found_output_shape(self, input_shape)

    @default
    def compute_output_signature(self, input_signature):
        """The tf.TensorSpecs of the outputs for inputs of such. Raises TypeError for anything else."""
        return output_signature(self, input_signature)

    # ---- Calls ----------------------------------------------------------------------------------------------

    def __call__(self, inputs, *args, **kwargs):
        """Computes the outputs, after making the variables if this is the first call.

        Args:
          inputs: a tensor, or a structure of tensors.
          args, kwargs: further arguments of `call`. A layer that takes `training` or `mask` gets the former from
            the layer that calls it, the latter from its inputs, where they are not passed.

        Raises:
          ValueError: if inputs are not what the layer expects, or `call` returns None.
        """
        values = nest.flatten(inputs)
        is_symbolic = all(symbols.is_symbolic(value) for value in values)
        if is_symbolic and values:
            with symbols.graph_of_call(values):
                return self._called(inputs, args, kwargs, values, True)
        return self._called(inputs, args, kwargs, values, is_symbolic)

    def _called(self, inputs, args, kwargs, values, is_symbolic):
        if any(isinstance(value, (np.ndarray, float, int)) for value in values):
            inputs = nest.map_structure(
                lambda x: convert_to_tensor(x) if isinstance(x, (np.ndarray, float, int)) else x, inputs
            )
        kwargs, masks, training, passed = self._completed(inputs, args, kwargs, is_symbolic)
        if not call_context.in_call:
            if is_symbolic:
                make_histories(values)
                self._make_histories_of_arguments(args, kwargs, passed)
            self._clear_losses()
        with call_context.enter(self, inputs, training):
            if is_symbolic:
                assert_input_compatibility(self.input_spec, inputs, self.name)
            with name_scope(self._name_scope()):
                self._maybe_build(inputs)
                outputs = self._outputs(inputs, args, kwargs, is_symbolic)
                if is_symbolic:
                    if outputs is None:
                        raise ValueError(
                            "A layer's `call` method should return a Tensor or a list of Tensors, not None (layer: "
                            f"{self.name})."
                        )
                    outputs = nest.map_structure(_in_graph, outputs)
                    if have_history(inputs):
                        arguments = dict(zip(self._call_fn_args[1:], args, strict=False))
                        arguments.update((key, value) for key, value in kwargs.items() if key not in passed)
                        outputs = self._record_call(inputs, outputs, arguments)
                self._handle_activity_regularization(inputs, outputs)
                self._set_masks(inputs, outputs, masks)
                if is_symbolic:
                    self._called_with(inputs, outputs)
        return outputs

    @staticmethod
    def _make_histories_of_arguments(args, kwargs, passed):
        """Tensors among the arguments that the program gives are computed by layers, too."""
        given = [*args, *(value for name, value in kwargs.items() if name not in passed)]
        for argument in nest.flatten(given):
            if isinstance(argument, Tensor):
                make_histories([argument])

    def _called_with(self, inputs, outputs):
        """What models do after a call with tensors of a graph."""

    def _completed(self, inputs, args, kwargs, is_symbolic):
        """(arguments by name with those that come from elsewhere, the inputs' masks, training, names of those)."""
        passed = []
        was_given, masks = self._given("mask", args, kwargs)
        if not was_given:
            masks = self._masks_of_inputs(inputs)
            if masks is not None and self._expects("mask"):
                kwargs = {**kwargs, "mask": masks}
                passed.append("mask")
        was_given, training = self._given("training", args, kwargs)
        if was_given:
            if not self._expects("training"):
                kwargs = {key: value for key, value in kwargs.items() if key != "training"}
        else:
            training = call_context.training
            if training is None:
                training = training_of_outermost_layer(is_symbolic)
            if training is not None and self._expects("training"):
                training = ops.cast(training, dtypes.bool_) if isinstance(training, Tensor) else bool(training)
                kwargs = {**kwargs, "training": training}
                passed.append("training")
        return kwargs, masks, training, passed

    def _outputs(self, inputs, args, kwargs, is_symbolic):
        if is_symbolic and self.dynamic:
            return placeholders_of_outputs(self, inputs)
        call = self.call
        if is_symbolic and not type(self).__module__.startswith("stillflow."):
            from stillflow.autograph.calls import convert_argument

            call = convert_argument(call)
        inputs = self._cast_inputs(inputs)
        try:
            with self._variables_are_cast():
                return call(inputs, *args, **kwargs)
        except OperatorNotAllowedInGraphError as error:
            raise TypeError(
                "You are attempting to use Python control flow in a layer that was not declared to be dynamic. Pass "
                f'`dynamic=True` to the class constructor.\nEncountered error:\n"""\n{error}\n"""'
            ) from None

    def apply(self, inputs, *args, **kwargs):
        """The old name of calling the layer."""
        return self(inputs, *args, **kwargs)

    def _name_scope(self):
        return self.name

    def _maybe_build(self, inputs):
        """Makes the variables if that has not been done. Raises ValueError if inputs are not what is expected."""
        if not self.built:
            assert_input_compatibility(self.input_spec, inputs, self.name)
            values = nest.flatten(inputs)
            self._note_type_of_inputs(values)
            shapes = None
            if all(hasattr(value, "shape") for value in values):
                shapes = nest.map_structure(lambda value: value.shape, inputs)
            if not hasattr(self.build, "_is_default"):
                with self._scope_of_build():
                    self.build(shapes)
            self.built = True
        if self._initial_weights is not None:
            with self._scope_of_build():
                self.set_weights(self._initial_weights)
            self._initial_weights = None

    def _scope_of_build(self):
        """Within functions that are traced in eager execution variables are made outside of them."""
        return symbols.scope_of_variables() if self._keras_style else contextlib.nullcontext()

    def _handle_activity_regularization(self, inputs, outputs):
        if not self._activity_regularizer:
            return
        with name_scope("ActivityRegularizer"):
            for output in nest.flatten(outputs):
                loss = self._activity_regularizer(output)
                mean = loss / ops.cast(ops.shape(output)[0], loss.dtype)
                if symbols.is_symbolic(mean):
                    refuse_in_branch(mean.graph, mean.op._control_flow_context, "activity_regularizer")
                self.add_loss(mean, inputs=inputs)

    # ---- What it is -----------------------------------------------------------------------------------------

    @property
    def name(self):
        return self._name

    @property
    def dynamic(self):
        return self._dynamic

    @property  # type: ignore[override]
    def trainable(self):
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        self._trainable = value
        for layer in self._inner_layers():
            layer.trainable = value

    @property
    def activity_regularizer(self):
        """A function from outputs to a loss, or None."""
        return self._activity_regularizer

    @activity_regularizer.setter
    def activity_regularizer(self, regularizer):
        self._activity_regularizer = regularizer

    @property
    def input_spec(self):
        """An InputSpec, or a list of them, that inputs are checked by; None if they are not."""
        return self._input_spec

    @input_spec.setter
    @untracked
    def input_spec(self, value):
        for spec in nest.flatten(value):
            if spec is not None and not isinstance(spec, InputSpec):
                raise TypeError(f"Layer input_spec must be an instance of InputSpec. Got: {spec}")
        self._input_spec = value

    # ---- Weights --------------------------------------------------------------------------------------------

    @property
    def trainable_weights(self):
        """A list of the variables to be trained, its layers' among them; empty if the layer is not trainable."""
        if not self.trainable:
            return []
        return self._trainable_weights + self._of_inner_layers("trainable_weights")

    @property
    def non_trainable_weights(self):
        """A list of the other variables."""
        if not self.trainable:
            return self._trainable_weights + self._non_trainable_weights + self._of_inner_layers("weights")
        return self._non_trainable_weights + self._of_inner_layers("non_trainable_weights")

    @property
    def weights(self):
        """A list of all variables, those to be trained first."""
        return self.trainable_weights + self.non_trainable_weights

    @property
    def variables(self):
        return self.weights

    @property
    def trainable_variables(self):
        return self.trainable_weights

    @property
    def non_trainable_variables(self):
        return self.non_trainable_weights

    def add_variable(self, *args, **kwargs):
        """The old name of `add_weight`."""
        return self.add_weight(*args, **kwargs)

    def count_params(self):
        """How many numbers the weights are made of. Raises ValueError before they are made."""
        if not self.built:
            raise ValueError(
                f"You tried to call `count_params` on {self.name}, but the layer isn't built. You can build it "
                f"manually via: `{self.name}.build(batch_input_shape)`."
            )
        return int(sum(np.prod(weight.shape.as_list()) for weight in self.weights))

    def get_weights(self):
        """A list of the weights' values, as arrays."""
        return weight_values.get(self.weights)

    def set_weights(self, weights):
        """Sets the weights to a list of arrays. Raises ValueError unless there are as many, of the same shapes."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f'You called `set_weights(weights)` on layer "{self.name}" with a  weight list of length '
                f"{len(weights)}, but the layer was expecting {len(variables)} weights. Provided weights: "
                f"{str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            if not variable.shape.is_compatible_with(value.shape):
                raise ValueError(
                    f"Layer weight shape {variable.shape} not compatible with provided weight shape {value.shape}"
                )
        weight_values.set_all(zip(variables, weights, strict=True))

    # ---- Plain values ---------------------------------------------------------------------------------------

    @default
    def get_config(self):
        """What to make a layer like this of: a dictionary of plain values, without connections and weights.

        Raises NotImplementedError for a subclass with further arguments that does not have this method.
        """
        arguments = inspect.getfullargspec(type(self).__init__).args
        config = {"name": self.name, "trainable": self.trainable}
        if hasattr(self, "_batch_input_shape"):
            config["batch_input_shape"] = self._batch_input_shape
        config["dtype"] = self.dtype
        if self.dynamic:
            config["dynamic"] = True
        more = [name for name in arguments if name not in config and name not in ("self", "dynamic")]
        if more and hasattr(self.get_config, "_is_default"):
            raise NotImplementedError("Layers with arguments in `__init__` must override `get_config`.")
        return config

    @classmethod
    def from_config(cls, config):
        """A layer of what `get_config` returned."""
        return cls(**config)


def is_trainable(trainable, synchronization):
    """Whether a variable is to be trained. Raises ValueError if one that is read from copies is said to be."""
    if synchronization is VariableSynchronization.ON_READ:
        if trainable:
            raise ValueError(
                "Synchronization value can be set to VariableSynchronization.ON_READ only for non-trainable "
                "variables. You have specified trainable=True and synchronization=VariableSynchronization.ON_READ."
            )
        return False
    return True if trainable is None else trainable


def make_variable(
    name, shape=None, dtype=dtypes.float32, initializer=None, trainable=None, caching_device=None,
    validate_shape=True, constraint=None, use_resource=None, collections=None,
    synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE, partitioner=None,
):  # fmt: skip
    """A variable outside of all variable scopes; a resource variable by default. `partitioner` is ignored."""
    if inspect.isclass(initializer):
        initializer = initializer()
    known = TensorShape(shape)
    return Variable(
        lambda: initializer(shape, dtype=dtype), trainable, collections, validate_shape, caching_device, name,
        dtype=dtype.base_dtype, constraint=constraint, use_resource=True if use_resource is None else use_resource,
        synchronization=synchronization, aggregation=aggregation, shape=known if known.rank else None,
    )  # fmt: skip

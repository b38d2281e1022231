"""OptimizerV2: what optimizers of Keras have in common."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.autodiff.reverse import gradients
from stillflow.composites.clip import clip_by_norm, clip_by_value
from stillflow.eager.gradient_tape import GradientTape
from stillflow.graph import dtypes, nest
from stillflow.graph.contexts import colocate_with, control_dependencies, device
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode, by_outermost_mode, eager_version_of
from stillflow.graph.name_scope import init_scope, name_scope
from stillflow.graph.operation import Tensor
from stillflow.keras.backend.phases import get_graph
from stillflow.keras.backend.values import batch_get_value, batch_set_value, get_value, set_value, track_variable
from stillflow.keras.optimizers.schedules import LearningRateSchedule
from stillflow.keras.optimizers.schedules import deserialize as deserialize_schedule
from stillflow.keras.optimizers.schedules import serialize as serialize_schedule
from stillflow.layers.core import initializers
from stillflow.layers.core.layer import is_trainable, make_variable
from stillflow.layers.core.layer_names import to_snake_case, unique_object_name
from stillflow.names import public
from stillflow.platform import logging
from stillflow.tracking.base import Trackable
from stillflow.variables.copies import VariableAggregation, VariableSynchronization
from stillflow.variables.variable import Variable

_OPTIONS = ("clipnorm", "clipvalue", "lr", "decay")
_VALID_DTYPES = {dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64}


@public("keras.optimizers.Optimizer", "python.keras.optimizer_v2.optimizer_v2.OptimizerV2")
class OptimizerV2(Trackable):
    """An optimizer: it computes gradients of a loss, and changes variables by them.

    Subclasses have `_create_slots`, `_resource_apply_dense`, `_resource_apply_sparse` and `get_config`. Numbers that
    were set by `_set_hyper` become variables when they are first needed; they are attributes, and may be changed.

    Args:
      name: the name scope of its nodes and variables.
      clipnorm: what the norm of each gradient is clipped to.
      clipvalue: what each element of gradients is clipped to.
      lr: the old name of `learning_rate`.
      decay: the learning rate is divided by 1 + decay * iterations.

    Raises:
      TypeError: for another argument.
      ValueError: for a negative one.
    """

    _hyper: dict
    _initial_decay: float
    clipnorm: Any
    clipvalue: Any

    def __init__(self, name, **kwargs):
        for key, value in kwargs.items():
            if key not in _OPTIONS:
                raise TypeError(f"Unexpected keyword argument passed to optimizer: {key}")
            if value < 0:
                raise ValueError(f"Expected {key} >= 0, received: {value}")
        self._hyper = {}
        self._use_locking = True
        self._init_set_name(name)
        self._slots: dict = {}
        self._slot_names: list = []
        self._weights: list = []
        self._iterations = None
        self._deferred_slots: dict = {}
        self._initial_decay = kwargs.get("decay", 0.0)
        for key in ("clipnorm", "clipvalue"):
            if key in kwargs:
                setattr(self, key, kwargs[key])
        self._hypers_created = False

    def _init_set_name(self, name, zero_based=True):
        self._name = name or unique_object_name(to_snake_case(type(self).__name__), zero_based=zero_based)

    # ---- Steps ----------------------------------------------------------------------------------------------

    def minimize(self, loss, var_list, grad_loss=None, name=None):
        """Changes variables so that a loss becomes less.

        Args:
          loss: a function without arguments that computes it.
          var_list: the variables, or a function that returns them.
          grad_loss: the gradient of the loss, 1 by default.
          name: the name of the operation.

        Returns:
          The operation that does it.
        """
        return self.apply_gradients(self._compute_gradients(loss, var_list, grad_loss), name=name)

    def _compute_gradients(self, loss, var_list, grad_loss=None):
        with GradientTape() as tape:
            if not callable(var_list):
                tape.watch(var_list)
            value = loss()
        if callable(var_list):
            var_list = var_list()
        var_list = nest.flatten(var_list)
        with name_scope(f"{self._name}/gradients"):
            found = list(zip(self._clipped(tape.gradient(value, var_list, grad_loss)), var_list, strict=True))
        self._check_types(variable for gradient, variable in found if gradient is not None)
        return found

    def _clipped(self, grads):
        if hasattr(self, "clipnorm"):
            grads = [clip_by_norm(grad, self.clipnorm) for grad in grads]
        if hasattr(self, "clipvalue"):
            grads = [clip_by_value(grad, -self.clipvalue, self.clipvalue) for grad in grads]
        return grads

    def get_gradients(self, loss, params):
        """The gradients of a loss with respect to variables. Raises ValueError where there is none."""
        params = nest.flatten(params)
        with get_graph().as_default(), name_scope(f"{self._name}/gradients"):
            grads = gradients(loss, params)
            for grad, param in zip(grads, params, strict=True):
                if grad is None:
                    raise ValueError(
                        f"Variable {param} has `None` for gradient. Please make sure that all of your ops have a "
                        "gradient defined (i.e. are differentiable). Common ops without gradient: K.argmax, K.round, "
                        "K.eval."
                    )
            return self._clipped(grads)

    def get_updates(self, loss, params):
        """A list of the operation that changes variables so that a loss becomes less."""
        pairs = list(zip(self.get_gradients(loss, params), params, strict=True))
        self._check_types(variable for _, variable in pairs)
        return [self.apply_gradients(pairs)]

    def apply_gradients(self, grads_and_vars, name=None):
        """Changes variables by gradients.

        Args:
          grads_and_vars: pairs of a gradient and a variable; those without a gradient are left out.
          name: the name of the operation.

        Returns:
          The operation that does it, and counts `iterations`.

        Raises:
          ValueError: if there is no gradient at all.
        """
        pairs = _with_gradients(grads_and_vars)
        variables = [variable for _, variable in pairs]
        with name_scope(self._name):
            self.make_state(variables)
            state = self._prepare(variables)
            with name_scope(name or self._name):
                updates = [self._update(grad, variable, state) for grad, variable in pairs]
                return self._count(updates)

    def _update(self, grad, variable, state):
        with name_scope(_update_scope(variable)), colocate_with(variable):
            coefficients = state[variable.device, variable.dtype.base_dtype]
            if isinstance(grad, IndexedSlices):
                if variable.constraint is not None:
                    raise RuntimeError("Cannot use a constraint function on a sparse variable.")
                return self._apply_sparse_duplicates(grad, variable, coefficients, state)
            update = self._apply_dense(grad, variable, coefficients, state)
            if variable.constraint is None:
                return update
            with control_dependencies([update]):
                return variable.assign(variable.constraint(variable))

    def _count(self, updates):
        return _counted(self._iterations, updates)

    # ---- For subclasses -------------------------------------------------------------------------------------

    def make_state(self, var_list):
        """Makes all that is kept from step to step for these variables."""
        with init_scope():
            _ = self.iterations
            self._create_hypers()
            if var_list:
                self._create_slots(var_list)

    def _create_slots(self, var_list):
        """Makes the slots of the variables."""

    def _prepare(self, var_list):
        """{(device, type): coefficients} of the variables."""
        state: dict = {}
        for variable in var_list:
            key = variable.device, variable.dtype.base_dtype
            if key not in state:
                state[key] = {}
                with device(key[0]):
                    self._prepare_local(*key, state)
        return state

    def _prepare_local(self, var_device, var_dtype, apply_state):
        """Computes coefficients that all variables of a type share."""
        if "learning_rate" in self._hyper:
            apply_state[var_device, var_dtype]["lr_t"] = ops.identity(self._decayed_lr(var_dtype))

    def _fallback_apply_state(self, var_device, var_dtype):
        state: dict = {(var_device, var_dtype): {}}
        self._prepare_local(var_device, var_dtype, state)
        return state[var_device, var_dtype]

    def _apply_dense(self, grad, variable, coefficients, state):
        """What changes a variable by a gradient. Optimizers of programs have `_resource_apply_dense` instead."""
        return _with_state(self._resource_apply_dense, grad, variable, apply_state=state)

    def _apply_sparse_duplicates(self, grad, variable, coefficients, state):
        indices, positions = ops.unique(grad.indices)
        summed = ops.unsorted_segment_sum(grad.values, positions, ops.shape(indices)[0])
        return self._apply_sparse(summed, variable, indices, coefficients, state)

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        """What changes rows of a variable by their gradients, where no index occurs twice."""
        return _with_state(self._resource_apply_sparse, grad, variable, indices, apply_state=state)

    def _resource_apply_dense(self, grad, handle, apply_state):
        raise NotImplementedError

    def _resource_apply_sparse(self, grad, handle, indices, apply_state):
        raise NotImplementedError

    def _scatter_add(self, variable, indices, values):
        """The variable, after values have been added to some of its rows."""
        with control_dependencies([ops.resource_scatter_add(variable.handle, indices, values)]):
            return variable.value()

    def _scatter_update(self, variable, indices, values):
        """The variable, after some of its rows have been set."""
        with control_dependencies([ops.resource_scatter_update(variable.handle, indices, values)]):
            return variable.value()

    _resource_scatter_add = _scatter_add
    _resource_scatter_update = _scatter_update

    # ---- Numbers --------------------------------------------------------------------------------------------

    def _set_hyper(self, name, value):
        """Sets a number: also a tensor, a schedule, or a function that returns the number."""
        if isinstance(value, Trackable):
            self._track_trackable(value, name, overwrite=True)
        known = self._hyper.get(name)
        if isinstance(known, Variable) and not isinstance(value, LearningRateSchedule) and not callable(known):
            set_value(known, value)
        else:
            self._hyper[name] = value

    def _get_hyper(self, name, dtype=None):
        if not self._hypers_created:
            self._create_hypers()
        value = self._hyper[name]
        if isinstance(value, LearningRateSchedule):
            return value
        if callable(value) and not isinstance(value, (Tensor, Variable)):
            value = value()
        return ops.cast(value, dtype) if dtype else value

    def _create_hypers(self):
        if self._hypers_created:
            return
        for name, value in sorted(self._hyper.items()):
            if not isinstance(value, (Tensor, Variable)) and not callable(value):
                self._hyper[name] = self.add_weight(
                    name, shape=[], trainable=False, initializer=value,
                    aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
                )  # fmt: skip
        self._hypers_created = True

    def __getattr__(self, name):
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            return self._get_hyper(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __setattr__(self, name, value):
        if name == "lr":
            name = "learning_rate"
        if name in self.__dict__.get("_hyper", ()):
            self._set_hyper(name, value)
        else:
            object.__setattr__(self, name, value)

    @property
    def iterations(self):
        """The variable that counts the steps."""
        if self._iterations is None:
            self._iterations = self.add_weight(
                "iter", shape=[], dtype=dtypes.int64, trainable=False,
                aggregation=VariableAggregation.ONLY_FIRST_REPLICA,
            )  # fmt: skip
            self._weights.append(self._iterations)
        return self._iterations

    @iterations.setter
    def iterations(self, variable):
        if self._iterations is not None:
            raise RuntimeError(
                "Cannot set `iterations` to a new Variable after the Optimizer weights have been created"
            )
        object.__setattr__(self, "_iterations", variable)
        self._weights.append(variable)

    def _decayed_lr(self, var_dtype):
        rate = self._get_hyper("learning_rate", var_dtype)
        if isinstance(rate, LearningRateSchedule):
            rate = ops.cast(rate(ops.cast(self.iterations, var_dtype)), var_dtype)
        if self._initial_decay > 0.0:
            step = ops.cast(self.iterations, var_dtype)
            rate = rate / (1.0 + self._get_hyper("decay", var_dtype) * step)
        return rate

    # ---- Variables ------------------------------------------------------------------------------------------

    def add_weight(
        self, name, shape, dtype=None, initializer="zeros", trainable=None,
        synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE,
    ):  # fmt: skip
        """Makes a variable of the optimizer's own; `initializer` may be a number. See `Layer.add_weight`."""
        trainable = is_trainable(trainable, synchronization)
        if isinstance(initializer, str) or callable(initializer):
            variable = make_variable(
                name=name, shape=shape, dtype=dtypes.as_dtype(dtype or dtypes.float32),
                initializer=initializers.get(initializer), trainable=trainable, use_resource=True,
                synchronization=synchronization, aggregation=aggregation,
            )  # fmt: skip
        else:
            variable = Variable(
                initializer, trainable, name=name, use_resource=True, synchronization=synchronization,
                aggregation=aggregation,
            )  # fmt: skip
        self._track_trackable(variable, name=name, overwrite=True)
        track_variable(variable)
        return variable

    def add_slot(self, var, slot_name, initializer="zeros"):
        """Makes a variable that goes with another one, if there is none of that name yet, and returns it."""
        if slot_name not in self._slot_names:
            self._slot_names.append(slot_name)
        slots = self._slots.setdefault(var._identity, {})
        slot = slots.get(slot_name)
        if slot is None:
            initializer = initializers.get(initializer)
            with colocate_with(var):
                slot = Variable(
                    lambda: initializer(shape=var.shape, dtype=var.dtype), name=f"{var._shared_name}/{slot_name}",
                    dtype=var.dtype, trainable=False, use_resource=True,
                )  # fmt: skip
            track_variable(slot)
            slots[slot_name] = slot
            for position in reversed(self._deferred_slots.pop((slot_name, var._identity), [])):
                position.restore(slot)
            self._weights.append(slot)
        return slot

    def get_slot(self, var, slot_name):
        """The variable of that name that goes with another one. Raises KeyError if there is none."""
        return self._slots[var._identity][slot_name]

    def get_slot_names(self):
        """The names of slots."""
        return self._slot_names

    def _create_or_restore_slot_variable(self, slot_variable_position, slot_name, variable):
        """Restores a slot from a checkpoint, now or when it is made."""
        slot = self._slots.get(variable._identity, {}).get(slot_name)
        if slot is not None:
            slot_variable_position.restore(slot)
        else:
            self._deferred_slots.setdefault((slot_name, variable._identity), []).append(slot_variable_position)

    def variables(self):
        """A list of the optimizer's variables: the number of steps, then slots."""
        return self._weights

    @property
    def weights(self):
        return self._weights

    def get_weights(self):
        """The values of the variables."""
        return batch_get_value(self.weights)

    def set_weights(self, weights):
        """Sets the variables. Raises ValueError unless there are as many values, of the same shapes."""
        variables = self.weights
        if len(variables) != len(weights):
            raise ValueError(
                f"You called `set_weights(weights)` on optimizer {self._name} with a  weight list of length "
                f"{len(weights)}, but the optimizer was expecting {len(variables)} weights. Provided weights: "
                f"{str(weights)[:50]}..."
            )
        for variable, value in zip(variables, weights, strict=True):
            shape = tuple(variable.shape.as_list())
            if shape != value.shape:
                raise ValueError(
                    f"Optimizer weight shape {shape} not compatible with provided weight shape {value.shape}"
                )
        if variables:
            batch_set_value(list(zip(variables, weights, strict=True)))

    def _check_types(self, variables):
        for variable in variables:
            if variable.dtype.base_dtype not in _VALID_DTYPES:
                raise ValueError(
                    f"Invalid type {variable.dtype.base_dtype!r} for {variable.name}, expected: "
                    f"{list(_VALID_DTYPES)}."
                )

    # ---- Plain values ---------------------------------------------------------------------------------------

    def get_config(self):
        config = {"name": self._name}
        for key in ("clipnorm", "clipvalue"):
            if hasattr(self, key):
                config[key] = getattr(self, key)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer of what `get_config` returned."""
        if "lr" in config:  # it is renamed in the program's own dictionary, as in TensorFlow
            config["learning_rate"] = config.pop("lr")
        if isinstance(config.get("learning_rate"), dict):
            config["learning_rate"] = deserialize_schedule(config["learning_rate"], custom_objects=custom_objects)
        return cls(**config)

    def _serialize_hyperparameter(self, hyperparameter_name):
        value = self._hyper[hyperparameter_name]
        if isinstance(value, LearningRateSchedule):
            return serialize_schedule(value)
        if isinstance(value, (Tensor, Variable)):
            return get_value(value)
        return value() if callable(value) else value

    def _hypers(self, *names):
        """{name: number} for `get_config`."""
        return {name: self._serialize_hyperparameter(name) for name in names}


def _with_state(method, *args, apply_state):
    """Calls a method of a program's own optimizer; older ones do not take the state."""
    code = getattr(method, "__code__", None)
    if code is not None and "apply_state" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
        return method(*args, apply_state=apply_state)
    return method(*args)


def _with_gradients(grads_and_vars):
    pairs = list(grads_and_vars)
    found = [(grad, variable) for grad, variable in pairs if grad is not None]
    missing = [variable.name for grad, variable in pairs if grad is None]
    if pairs and not found:
        raise ValueError(f"No gradients provided for any variable: {missing}.")
    if missing:
        logging.warning(f"Gradients do not exist for variables {missing} when minimizing the loss.")
    return found


@by_outermost_mode
def _update_scope(variable):
    return f"update_{variable.op.name}"


@eager_version_of(_update_scope)
def _eager_update_scope(variable):
    return "update"


@by_mode
def _counted(iterations, updates):
    """The operation that counts a step after its updates."""
    with control_dependencies(updates):
        return iterations.assign_add(1).op


@eager_version_of(_counted)
def _counted_at_once(iterations, updates):
    return iterations.assign_add(1)

"""RMSprop, Adagrad, Adadelta and Ftrl: the step of each element depends on the squares of its gradients."""

from __future__ import annotations

import numpy as np

from stillflow import ops
from stillflow.graph.contexts import control_dependencies
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.keras.optimizers.gradient_descent import uses_momentum
from stillflow.layers.core.settings import epsilon as default_epsilon
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.assignments import assign
from stillflow.variables.initializers import Constant


class _WithSteps(OptimizerV2):
    """An optimizer that also takes the weights of older versions, which had no number of steps."""

    def set_weights(self, weights):
        """Sets the variables; the number of steps to 0, if it is missing."""
        if len(self.weights) == len(weights) + 1:
            weights = [np.array(0), *weights]
        super().set_weights(weights)


@public("keras.optimizers.RMSprop")
class RMSprop(_WithSteps):
    """Gradients divided by the square root of the running mean of their squares. Tieleman and Hinton, 2012.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      rho: how much of the mean is kept from step to step.
      momentum: the share of the velocity that is kept.
      epsilon: added to what is divided by.
      centered: whether the variance is taken in place of the mean of squares.
      name: the name scope.
    """

    def __init__(
        self, learning_rate=0.001, rho=0.9, momentum=0.0, epsilon=1e-7, centered=False, name="RMSprop", **kwargs
    ):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self._momentum = uses_momentum(momentum)
        self._set_hyper("momentum", momentum)
        self.epsilon = epsilon or default_epsilon()
        self.centered = centered

    def _create_slots(self, var_list):
        for name, is_used in (("rms", True), ("momentum", self._momentum), ("mg", self.centered)):
            for variable in var_list if is_used else ():
                self.add_slot(variable, name)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        rho = ops.identity(self._get_hyper("rho", var_dtype))
        coefficients = apply_state[var_device, var_dtype]
        coefficients.update(
            neg_lr_t=-coefficients["lr_t"], epsilon=convert_to_tensor(self.epsilon, var_dtype), rho=rho,
            momentum=ops.identity(self._get_hyper("momentum", var_dtype)), one_minus_rho=1.0 - rho,
        )  # fmt: skip

    def _with_momentum(self, variable, coefficients, *rest):
        slots = [self.get_slot(variable, name) for name in (["mg"] if self.centered else []) + ["rms", "momentum"]]
        if len(rest) == 1:
            apply = ops.apply_centered_rms_prop if self.centered else ops.apply_rms_prop
        else:
            apply = ops.sparse_apply_centered_rms_prop if self.centered else ops.sparse_apply_rms_prop
        numbers = (coefficients[name] for name in ("lr_t", "rho", "momentum", "epsilon"))
        return apply(variable, *slots, *numbers, *rest, use_locking=self._use_locking)

    def _mean(self, slot, values, coefficients):
        mean = coefficients["rho"] * slot + coefficients["one_minus_rho"] * values()
        return assign(slot, mean, use_locking=self._use_locking)

    def _apply_dense(self, grad, variable, coefficients, state):
        if self._momentum:
            return self._with_momentum(variable, coefficients, grad)
        divisor = mean = self._mean(self.get_slot(variable, "rms"), lambda: ops.square(grad), coefficients)
        if self.centered:
            divisor = mean - ops.square(self._mean(self.get_slot(variable, "mg"), lambda: grad, coefficients))
        moved = variable - coefficients["lr_t"] * grad / (ops.sqrt(divisor) + coefficients["epsilon"])
        return assign(variable, moved, use_locking=self._use_locking).op

    def _rows(self, slot, values, indices, coefficients):
        """(rows of a slot, the slot), after it has faded and the rows have had values added."""
        faded = assign(slot, slot * coefficients["rho"], use_locking=self._use_locking)
        with control_dependencies([faded]):
            changed = self._scatter_add(slot, indices, values)
            return ops.gather(changed, indices), changed

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        if self._momentum:
            return self._with_momentum(variable, coefficients, grad, indices)
        share = coefficients["one_minus_rho"]
        divisor, rms = self._rows(self.get_slot(variable, "rms"), grad * grad * share, indices, coefficients)
        slots = [rms]
        if self.centered:
            mg = self.get_slot(variable, "mg")
            values = grad * share
            faded = assign(mg, mg * coefficients["rho"], use_locking=self._use_locking)
            with control_dependencies([faded]):
                slots.append(self._scatter_add(mg, indices, values))
                divisor = divisor - ops.square(ops.gather(slots[-1], indices))
        rows = coefficients["neg_lr_t"] * grad / (ops.sqrt(divisor) + coefficients["epsilon"])
        return group(self._scatter_add(variable, indices, rows), *slots)

    def get_config(self):
        return {
            **super().get_config(), **self._hypers("learning_rate", "decay", "rho", "momentum"),
            "epsilon": self.epsilon, "centered": self.centered,
        }  # fmt: skip


@public("keras.optimizers.Adagrad")
class Adagrad(_WithSteps):
    """Gradients divided by the square root of the sum of all their squares. Duchi, Hazan and Singer, 2011.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      initial_accumulator_value: what the sum begins with.
      epsilon: added to what is divided by.
      name: the name scope.

    Raises:
      ValueError: for a negative sum to begin with.
    """

    def __init__(self, learning_rate=0.001, initial_accumulator_value=0.1, epsilon=1e-7, name="Adagrad", **kwargs):
        if initial_accumulator_value < 0.0:
            raise ValueError(f"initial_accumulator_value must be non-negative: {initial_accumulator_value}")
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._initial_accumulator_value = initial_accumulator_value
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list):
        for variable in var_list:
            initial = Constant(self._initial_accumulator_value, dtype=variable.dtype.base_dtype)
            self.add_slot(variable, "accumulator", initial)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        coefficients = apply_state[var_device, var_dtype]
        coefficients.update(
            epsilon=convert_to_tensor(self.epsilon, var_dtype), neg_lr_t=-coefficients["lr_t"],
            zero=ops.zeros((), dtype="int64"),
        )  # fmt: skip

    def _apply_dense(self, grad, variable, coefficients, state):
        return ops.apply_adagrad_v2(
            variable, self.get_slot(variable, "accumulator"), coefficients["lr_t"], coefficients["epsilon"], grad,
            use_locking=self._use_locking,
        )  # fmt: skip

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        return ops.sparse_apply_adagrad_v2(
            variable, self.get_slot(variable, "accumulator"), coefficients["lr_t"], coefficients["epsilon"], grad,
            indices, use_locking=self._use_locking,
        )  # fmt: skip

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """An optimizer of what `get_config` returned; older versions began with 0."""
        return super().from_config({"initial_accumulator_value": 0.0, **config}, custom_objects)

    def get_config(self):
        return {
            **super().get_config(), **self._hypers("learning_rate", "decay"),
            "initial_accumulator_value": self._initial_accumulator_value, "epsilon": self.epsilon,
        }  # fmt: skip


@public("keras.optimizers.Adadelta")
class Adadelta(_WithSteps):
    """Gradients scaled by running means of squares, of former steps to those of gradients. Zeiler, 2012.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      rho: how much of the means is kept from step to step.
      epsilon: added to both.
      name: the name scope.
    """

    def __init__(self, learning_rate=0.001, rho=0.95, epsilon=1e-7, name="Adadelta", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("rho", rho)
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list):
        for name in ("accum_grad", "accum_var"):
            for variable in var_list:
                self.add_slot(variable, name)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype].update(
            epsilon=convert_to_tensor(self.epsilon, var_dtype), rho=ops.identity(self._get_hyper("rho", var_dtype))
        )

    def _inputs(self, variable, coefficients):
        slots = (self.get_slot(variable, name) for name in ("accum_grad", "accum_var"))
        return variable, *slots, *(coefficients[name] for name in ("lr_t", "rho", "epsilon"))

    def _apply_dense(self, grad, variable, coefficients, state):
        return ops.apply_adadelta(*self._inputs(variable, coefficients), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        inputs = self._inputs(variable, coefficients)
        return ops.sparse_apply_adadelta(*inputs, grad, indices, use_locking=self._use_locking)

    def get_config(self):
        return {
            **super().get_config(), **self._hypers("learning_rate", "decay", "rho"), "epsilon": self.epsilon,
        }  # fmt: skip


@public("keras.optimizers.Ftrl")
class Ftrl(OptimizerV2):
    """Follow the regularized leader. McMahan et al., "Ad click prediction", 2013.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      learning_rate_power: how the learning rate falls; at most 0.
      initial_accumulator_value: what the sum of squares begins with.
      l1_regularization_strength, l2_regularization_strength: what sizes of variables cost.
      name: the name scope.
      l2_shrinkage_regularization_strength: what sizes cost, in the gradient alone.

    Raises:
      ValueError: for numbers that are less than 0, or a power that is more.
    """

    def __init__(
        self, learning_rate=0.001, learning_rate_power=-0.5, initial_accumulator_value=0.1,
        l1_regularization_strength=0.0, l2_regularization_strength=0.0, name="Ftrl",
        l2_shrinkage_regularization_strength=0.0, **kwargs,
    ):  # fmt: skip
        super().__init__(name, **kwargs)
        not_negative = {
            "initial_accumulator_value": initial_accumulator_value,
            "l1_regularization_strength": l1_regularization_strength,
            "l2_regularization_strength": l2_regularization_strength,
            "l2_shrinkage_regularization_strength": l2_shrinkage_regularization_strength,
        }
        for key, value in not_negative.items():
            if value < 0.0:
                raise ValueError(f"{key} {value:f} needs to be positive or zero")
        if learning_rate_power > 0.0:
            raise ValueError(f"learning_rate_power {learning_rate_power:f} needs to be negative or zero")
        self._set_hyper("learning_rate", learning_rate)
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("learning_rate_power", learning_rate_power)
        self._set_hyper("l1_regularization_strength", l1_regularization_strength)
        self._set_hyper("l2_regularization_strength", l2_regularization_strength)
        self._initial_accumulator_value = initial_accumulator_value
        self._l2_shrinkage_regularization_strength = l2_shrinkage_regularization_strength

    def _create_slots(self, var_list):
        for variable in var_list:
            initial = Constant(self._initial_accumulator_value, dtype=variable.dtype.base_dtype)
            self.add_slot(variable, "accumulator", initial)
            self.add_slot(variable, "linear")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        names = ("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength")
        coefficients = apply_state[var_device, var_dtype]
        coefficients.update({name: ops.identity(self._get_hyper(name, var_dtype)) for name in names})
        coefficients["l2_shrinkage"] = ops.cast(self._l2_shrinkage_regularization_strength, var_dtype)

    def _apply(self, variable, coefficients, *gradient):
        slots = (self.get_slot(variable, name) for name in ("accumulator", "linear"))
        names = ["lr_t", "l1_regularization_strength", "l2_regularization_strength", "learning_rate_power"]
        is_shrunk = self._l2_shrinkage_regularization_strength > 0.0
        if is_shrunk:
            names.insert(3, "l2_shrinkage")
        if len(gradient) == 1:
            apply = ops.apply_ftrl_v2 if is_shrunk else ops.apply_ftrl
        else:
            apply = ops.sparse_apply_ftrl_v2 if is_shrunk else ops.sparse_apply_ftrl
        numbers = (coefficients[name] for name in names)
        return apply(variable, *slots, *gradient, *numbers, use_locking=self._use_locking)

    def _apply_dense(self, grad, variable, coefficients, state):
        return self._apply(variable, coefficients, grad)

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        return self._apply(variable, coefficients, grad, indices)

    def get_config(self):
        return {
            **super().get_config(),
            **self._hypers("learning_rate", "decay"),
            "initial_accumulator_value": self._initial_accumulator_value,
            **self._hypers("learning_rate_power", "l1_regularization_strength", "l2_regularization_strength"),
            "l2_shrinkage_regularization_strength": self._l2_shrinkage_regularization_strength,
        }  # fmt: skip

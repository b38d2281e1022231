"""Adam, Adamax and Nadam: steps along the running mean of gradients, scaled by their size."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph.contexts import control_dependencies
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.keras.optimizers.schedules import LearningRateSchedule
from stillflow.layers.core.settings import epsilon as default_epsilon
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.variables.assignments import assign, assign_sub


class _OfMoments(OptimizerV2):
    """An optimizer with running means of gradients, "m", and of their size, "v"."""

    def __init__(self, name, learning_rate, beta_1, beta_2, epsilon, kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._set_hyper("beta_1", beta_1)
        self._set_hyper("beta_2", beta_2)
        self.epsilon = epsilon or default_epsilon()

    def _create_slots(self, var_list):
        for name in ("m", "v"):
            for variable in var_list:
                self.add_slot(variable, name)

    def _betas(self, dtype):
        return (ops.identity(self._get_hyper(name, dtype)) for name in ("beta_1", "beta_2"))

    def _faded_rows(self, slot, values, indices, beta):
        """A slot, after it has faded and rows of it have had values added."""
        faded = assign(slot, slot * beta, use_locking=self._use_locking)
        with control_dependencies([faded]):
            return self._scatter_add(slot, indices, values)

    def get_config(self):
        return {
            **super().get_config(), **self._hypers("learning_rate", "decay", "beta_1", "beta_2"),
            "epsilon": self.epsilon,
        }  # fmt: skip


@public("keras.optimizers.Adam")
class Adam(_OfMoments):
    """Steps along the running mean of gradients, scaled by the square root of that of their squares.

    Kingma and Ba, "Adam", 2015; amsgrad: Reddi et al., "On the convergence of Adam and beyond", 2018.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      beta_1, beta_2: how much of the means is kept from step to step.
      epsilon: added to what is divided by.
      amsgrad: whether the greatest mean of squares that there has been is taken.
      name: the name scope.
    """

    def __init__(
        self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, amsgrad=False, name="Adam", **kwargs
    ):
        super().__init__(name, learning_rate, beta_1, beta_2, epsilon, kwargs)
        self.amsgrad = amsgrad

    def _create_slots(self, var_list):
        super()._create_slots(var_list)
        if self.amsgrad:
            for variable in var_list:
                self.add_slot(variable, "vhat")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        coefficients = apply_state[var_device, var_dtype]
        step = ops.cast(self.iterations + 1, var_dtype)
        beta_1, beta_2 = self._betas(var_dtype)
        beta_1_power, beta_2_power = ops.pow(beta_1, step), ops.pow(beta_2, step)
        coefficients.update(
            lr=coefficients["lr_t"] * (ops.sqrt(1 - beta_2_power) / (1 - beta_1_power)),
            epsilon=convert_to_tensor(self.epsilon, var_dtype), beta_1_t=beta_1, beta_1_power=beta_1_power,
            one_minus_beta_1_t=1 - beta_1, beta_2_t=beta_2, beta_2_power=beta_2_power, one_minus_beta_2_t=1 - beta_2,
        )  # fmt: skip

    def _apply_dense(self, grad, variable, coefficients, state):
        slots = [self.get_slot(variable, name) for name in ("m", "v", *(["vhat"] if self.amsgrad else []))]
        apply = ops.apply_adam_with_amsgrad if self.amsgrad else ops.apply_adam
        names = ("beta_1_power", "beta_2_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")
        return apply(variable, *slots, *(coefficients[name] for name in names), grad, use_locking=self._use_locking)

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        m_t = self._faded_rows(m, grad * coefficients["one_minus_beta_1_t"], indices, coefficients["beta_1_t"])
        v_t = self._faded_rows(v, grad * grad * coefficients["one_minus_beta_2_t"], indices, coefficients["beta_2_t"])
        updates = [m_t, v_t]
        if self.amsgrad:
            v_hat = self.get_slot(variable, "vhat")
            greatest = ops.maximum(v_hat, v_t)
            with control_dependencies([greatest]):
                greatest = assign(v_hat, greatest, use_locking=self._use_locking)
            updates.append(greatest)
        root = ops.sqrt(updates[-1])
        step = coefficients["lr"] * m_t / (root + coefficients["epsilon"])
        return group(assign_sub(variable, step, use_locking=self._use_locking), *updates)

    def set_weights(self, weights):
        """Sets the variables; of more than there are, which older versions have saved, the last are left out."""
        count = (len(self.weights) - 1) // 2
        if len(weights) == 3 * count + 1:
            weights = weights[: len(self.weights)]
        super().set_weights(weights)

    def get_config(self):
        return {**super().get_config(), "amsgrad": self.amsgrad}


@public("keras.optimizers.Adamax")
class Adamax(_OfMoments):
    """Adam with the greatest of faded gradients in place of the mean of squares. Kingma and Ba, 2015, section 7.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      beta_1, beta_2: how much of the mean, and of the greatest, is kept from step to step.
      epsilon: added to what is divided by.
      name: the name scope.
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Adamax", **kwargs):
        super().__init__(name, learning_rate, beta_1, beta_2, epsilon, kwargs)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        coefficients = apply_state[var_device, var_dtype]
        step = ops.cast(self.iterations + 1, var_dtype)
        beta_1, beta_2 = self._betas(var_dtype)
        beta_1_power = ops.pow(beta_1, step)
        coefficients.update(
            neg_scaled_lr=-coefficients["lr_t"] / (1 - beta_1_power),
            epsilon=convert_to_tensor(self.epsilon, var_dtype), beta_1_t=beta_1, beta_1_power=beta_1_power,
            one_minus_beta_1_t=1 - beta_1, beta_2_t=beta_2, zero=ops.zeros((), dtype="int64"),
        )  # fmt: skip

    def _apply_dense(self, grad, variable, coefficients, state):
        names = ("beta_1_power", "lr_t", "beta_1_t", "beta_2_t", "epsilon")
        return ops.apply_ada_max(
            variable, self.get_slot(variable, "m"), self.get_slot(variable, "v"),
            *(coefficients[name] for name in names), grad, use_locking=self._use_locking,
        )  # fmt: skip

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        m_rows = ops.gather(m, indices, axis=coefficients["zero"])
        m_rows = m_rows * coefficients["beta_1_t"] + grad * coefficients["one_minus_beta_1_t"]
        with control_dependencies([m_rows]):
            m_t = self._scatter_update(m, indices, m_rows)
        v_rows = ops.gather(v, indices, axis=coefficients["zero"])
        v_rows = ops.maximum(v_rows * coefficients["beta_2_t"], ops.abs(grad))
        with control_dependencies([v_rows]):
            v_t = self._scatter_update(v, indices, v_rows)
        rows = coefficients["neg_scaled_lr"] * (m_rows / (v_rows + coefficients["epsilon"]))
        with control_dependencies([rows]):
            update = self._scatter_add(variable, indices, rows)
        return group(update, m_t, v_t)


@public("keras.optimizers.Nadam")
class Nadam(_OfMoments):
    """Adam with Nesterov's momentum. Dozat, "Incorporating Nesterov momentum into Adam", 2016.

    Args:
      learning_rate: a number, or a function that returns it.
      beta_1, beta_2: how much of the means is kept from step to step.
      epsilon: added to what is divided by.
      name: the name scope.
      schedule_decay: how the momentum warms up.

    Raises:
      ValueError: for a schedule.
    """

    def __init__(self, learning_rate=0.001, beta_1=0.9, beta_2=0.999, epsilon=1e-7, name="Nadam", **kwargs):
        kwargs["decay"] = kwargs.pop("schedule_decay", 0.004)
        if isinstance(kwargs.get("lr", learning_rate), LearningRateSchedule):
            raise ValueError(
                "The Nadam optimizer does not support tf.keras.optimizers.LearningRateSchedules as the learning rate."
            )
        super().__init__(name, learning_rate, beta_1, beta_2, epsilon, kwargs)
        self._m_cache: Any = None

    def _create_slots(self, var_list):
        dtype = var_list[0].dtype.base_dtype
        if self._m_cache is None:
            self._m_cache = self.add_weight(
                "momentum_cache", shape=[], dtype=dtype, initializer="ones", trainable=False
            )
            self._weights.append(self._m_cache)
        super()._create_slots(var_list)

    def _prepare(self, var_list):
        self._m_cache_read = ops.identity(self._m_cache)
        return super()._prepare(var_list)

    def _prepare_local(self, var_device, var_dtype, apply_state):
        rate = ops.identity(self._get_hyper("learning_rate", var_dtype))
        beta_1, beta_2 = self._betas(var_dtype)
        step = ops.cast(self.iterations + 1, var_dtype)
        next_step = ops.cast(self.iterations + 2, var_dtype)
        base = ops.cast(0.96, var_dtype)
        momentum, next_momentum = (
            beta_1 * (1.0 - 0.5 * ops.pow(base, self._initial_decay * each)) for each in (step, next_step)
        )
        product = ops.cast(self._m_cache_read, var_dtype) * momentum
        if var_dtype is self._m_cache.dtype:
            product = ops.identity(assign(self._m_cache, product, use_locking=self._use_locking))
        next_product = product * next_momentum
        apply_state[var_device, var_dtype] = {
            "lr_t": rate, "neg_lr_t": -rate, "epsilon": convert_to_tensor(self.epsilon, var_dtype),
            "beta_1_t": beta_1, "beta_2_t": beta_2, "m_t": momentum, "m_t_1": next_momentum,
            "one_minus_beta_1_t": 1 - beta_1, "one_minus_beta_2_t": 1 - beta_2, "one_minus_m_t": 1.0 - momentum,
            "one_minus_m_schedule_new": 1.0 - product, "one_minus_m_schedule_next": 1.0 - next_product,
            "v_t_prime_denominator": 1.0 - ops.pow(beta_2, step),
        }  # fmt: skip

    def _apply_dense(self, grad, variable, coefficients, state):
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        g_prime = grad / coefficients["one_minus_m_schedule_new"]
        m_t = coefficients["beta_1_t"] * m + coefficients["one_minus_beta_1_t"] * grad
        m_t = assign(m, m_t, use_locking=self._use_locking)
        m_prime = m_t / coefficients["one_minus_m_schedule_next"]
        v_t = coefficients["beta_2_t"] * v + coefficients["one_minus_beta_2_t"] * ops.square(grad)
        v_t = assign(v, v_t, use_locking=self._use_locking)
        v_prime = v_t / coefficients["v_t_prime_denominator"]
        m_bar = coefficients["one_minus_m_t"] * g_prime + coefficients["m_t_1"] * m_prime
        moved = variable - coefficients["lr_t"] * m_bar / (ops.sqrt(v_prime) + coefficients["epsilon"])
        return assign(variable, moved, use_locking=self._use_locking).op

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        m, v = self.get_slot(variable, "m"), self.get_slot(variable, "v")
        g_prime = grad / coefficients["one_minus_m_schedule_new"]
        m_rows, _ = self._rows(m, grad * coefficients["one_minus_beta_1_t"], indices, coefficients["beta_1_t"])
        m_prime = m_rows / coefficients["one_minus_m_schedule_next"]
        m_bar = coefficients["one_minus_m_t"] * g_prime + coefficients["m_t_1"] * m_prime
        squares = grad * grad * coefficients["one_minus_beta_2_t"]
        v_rows, v_t = self._rows(v, squares, indices, coefficients["beta_2_t"])
        root = ops.sqrt(v_rows / coefficients["v_t_prime_denominator"]) + coefficients["epsilon"]
        update = self._scatter_add(variable, indices, coefficients["neg_lr_t"] * m_bar / root)
        return group(update, m_bar, v_t)

    def _rows(self, slot, values, indices, beta):
        """(rows of a slot, the slot), after it has faded and the rows have had values added."""
        faded = assign(slot, slot * beta, use_locking=self._use_locking)
        with control_dependencies([faded]):
            changed = self._scatter_add(slot, indices, values)
            return ops.gather(changed, indices), changed

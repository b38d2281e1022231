"""AdamOptimizer: steps along the running mean of gradients, scaled by that of their squares."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.default_graph import outermost_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.optimizer import Optimizer
from stillflow.variables.resource_variable import is_resource_variable


@public("train.AdamOptimizer")
class AdamOptimizer(Optimizer):
    """The algorithm of Kingma and Ba, "Adam: a method for stochastic optimization", 2014:

        rate = learning_rate * sqrt(1 - beta2 ** t) / (1 - beta1 ** t)
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient ** 2
        variable -= rate * m / (sqrt(v) + epsilon)

    A sparse gradient changes all rows, as if it were dense.

    Args:
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return one.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="Adam"):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta1 = beta1
        self._beta2 = beta2
        self._epsilon = epsilon

    def _get_beta_accumulators(self):
        graph = outermost_graph()
        return (
            self._get_non_slot_variable("beta1_power", graph),
            self._get_non_slot_variable("beta2_power", graph),
        )

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        self._create_non_slot_variable(self._beta2, "beta2_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _prepare(self):
        self._lr_t = self._hyperparameter(self._lr, "learning_rate")
        self._beta1_t = self._hyperparameter(self._beta1, "beta1")
        self._beta2_t = self._hyperparameter(self._beta2, "beta2")
        self._epsilon_t = self._hyperparameter(self._epsilon, "epsilon")

    def _scalars(self, dtype):
        """Both powers, the rate, both betas and epsilon in a type."""
        parameters = *self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t
        return [ops.cast(parameter, dtype) for parameter in parameters]

    def _update_dense(self, grad, var):
        return ops.apply_adam(
            var,
            self.get_slot(var, "m"),
            self.get_slot(var, "v"),
            *self._scalars(var.dtype.base_dtype),
            grad,
            use_locking=self._use_locking,
        )

    def _update_sparse(self, grad, var):
        graph = outermost_graph()
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._scalars(var.dtype.base_dtype)
        rate = lr * ops.sqrt(1 - beta2_power) / (1 - beta1_power)

        def faded(slot, fade, rows):
            """The slot after it has faded everywhere and grown in some rows."""
            update = slot.assign(slot * fade, use_locking=self._use_locking)
            with graph.control_dependencies([update]):
                if not is_resource_variable(slot):
                    return ops.scatter_add(slot, grad.indices, rows, use_locking=self._use_locking)
                with graph.control_dependencies([ops.resource_scatter_add(slot.handle, grad.indices, rows)]):
                    return slot.value()

        m = self.get_slot(var, "m")
        scaled = grad.values * (1 - beta1)
        m_t = faded(m, beta1, scaled)
        v = self.get_slot(var, "v")
        scaled_squares = (grad.values * grad.values) * (1 - beta2)
        v_t = faded(v, beta2, scaled_squares)
        root = ops.sqrt(v_t)
        update = var.assign_sub(rate * m_t / (root + epsilon), use_locking=self._use_locking)
        return group(update, m_t, v_t)

    def _finish(self, update_ops, name_scope):
        graph = outermost_graph()
        with graph.control_dependencies(update_ops):
            beta1_power, beta2_power = self._get_beta_accumulators()
            with graph.colocate_with(beta1_power):
                powers = [
                    beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking),
                    beta2_power.assign(beta2_power * self._beta2_t, use_locking=self._use_locking),
                ]
        return group(*update_ops, *powers, name=name_scope)

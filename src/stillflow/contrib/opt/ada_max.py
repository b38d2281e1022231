"""AdaMaxOptimizer: Adam that scales by the largest gradient instead of the mean of squares."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.opt.rows import scatter_add, scatter_update
from stillflow.graph.default_graph import outermost_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.adam import AdamOptimizer


@public("contrib.opt.AdaMaxOptimizer")
class AdaMaxOptimizer(AdamOptimizer):
    """The algorithm of Kingma and Ba, "Adam: a method for stochastic optimization", 2014, section 7.1:

        m = beta1 * m + (1 - beta1) * gradient
        v = max(beta2 * v, |gradient|)
        variable -= learning_rate / (1 - beta1 ** t) * m / (v + epsilon)

    A sparse gradient changes only the rows that it has.

    Args:
      learning_rate, beta1, beta2, epsilon: numbers, tensors, or functions that return one.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(self, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdaMax"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)

    def _get_beta_accumulators(self):
        return self._get_non_slot_variable("beta1_power", outermost_graph())

    def _create_slots(self, var_list):
        first = min(var_list, key=lambda v: v.name)
        self._create_non_slot_variable(self._beta1, "beta1_power", first)
        for v in var_list:
            self._zeros_slot(v, "m", self._name)
            self._zeros_slot(v, "v", self._name)

    def _scalars(self, dtype):
        """The power of beta1, the rate, both betas and epsilon in a type."""
        parameters = self._get_beta_accumulators(), self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t
        return [ops.cast(parameter, dtype) for parameter in parameters]

    def _update_dense(self, grad, var):
        slots = self.get_slot(var, "m"), self.get_slot(var, "v")
        return ops.apply_ada_max(
            var, *slots, *self._scalars(var.dtype.base_dtype), grad, use_locking=self._use_locking
        )

    def _update_sparse(self, grad, var):
        graph = outermost_graph()
        beta1_power, lr, beta1, beta2, epsilon = self._scalars(var.dtype.base_dtype)
        indices = grad.indices
        m = self.get_slot(var, "m")
        m_rows = ops.gather(m, indices) * beta1 + grad.values * (1 - beta1)
        with graph.control_dependencies([m_rows]):
            m_t = scatter_update(m, indices, m_rows, self._use_locking)
        v = self.get_slot(var, "v")
        v_rows = ops.maximum(ops.gather(v, indices) * beta2, ops.abs(grad.values))
        with graph.control_dependencies([v_rows]):
            v_t = scatter_update(v, indices, v_rows, self._use_locking)
        rows = -lr / (1 - beta1_power) * (m_rows / (v_rows + epsilon))
        with graph.control_dependencies([rows]):
            update = scatter_add(var, indices, rows, self._use_locking)
        return group(update, m_t, v_t)

    def _finish(self, update_ops, name_scope):
        graph = outermost_graph()
        with graph.control_dependencies(update_ops):
            beta1_power = self._get_beta_accumulators()
            with graph.colocate_with(beta1_power):
                power = beta1_power.assign(beta1_power * self._beta1_t, use_locking=self._use_locking)
        return group(*update_ops, power, name=name_scope)

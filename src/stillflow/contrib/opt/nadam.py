"""NadamOptimizer: Adam that looks ahead, as Nesterov's momentum does."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.opt.rows import scatter_add
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.adam import AdamOptimizer


@public("contrib.opt.NadamOptimizer")
class NadamOptimizer(AdamOptimizer):
    """The algorithm of Dozat, "Incorporating Nesterov momentum into Adam", 2015.

    Arguments are those of tf.train.AdamOptimizer.
    """

    def _update_dense(self, grad, var):
        return ops.apply_adam(
            var,
            self.get_slot(var, "m"),
            self.get_slot(var, "v"),
            *self._scalars(var.dtype.base_dtype),
            grad,
            use_locking=self._use_locking,
            use_nesterov=True,
        )

    def _update_sparse(self, grad, var):
        graph = get_default_graph()
        beta1_power, beta2_power, lr, beta1, beta2, epsilon = self._scalars(var.dtype.base_dtype)
        rate = lr * ops.sqrt(1 - beta2_power) / (1 - beta1_power)
        indices = grad.indices
        m = self.get_slot(var, "m")
        grown = grad.values * (1 - beta1)
        faded = m.assign(m * beta1, use_locking=self._use_locking)
        with graph.control_dependencies([faded]):
            m_t = scatter_add(m, indices, grown, self._use_locking)
            ahead = grown + beta1 * ops.gather(m_t, indices)
        v = self.get_slot(var, "v")
        squares = (grad.values * grad.values) * (1 - beta2)
        faded = v.assign(v * beta2, use_locking=self._use_locking)
        with graph.control_dependencies([faded]):
            v_t = scatter_add(v, indices, squares, self._use_locking)
        root = ops.sqrt(ops.gather(v_t, indices))
        update = scatter_add(var, indices, -rate * ahead / (root + epsilon), self._use_locking)
        return group(update, ahead, v_t)

"""LazyAdamOptimizer: Adam that leaves alone the rows that have no gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.adam import AdamOptimizer
from stillflow.variables.resource_variable import is_resource_variable


@public("contrib.opt.LazyAdamOptimizer")
class LazyAdamOptimizer(AdamOptimizer):
    """Adam whose sparse updates change only the rows they have, of the variable and of both means.

    Quicker than AdamOptimizer for embeddings, and another algorithm: means do not fade while a row is not used.
    Arguments are those of tf.train.AdamOptimizer.
    """

    def _update_sparse(self, grad, var):
        return apply_to_rows(
            grad, var, self.get_slot(var, "m"), self.get_slot(var, "v"), self._scalars(var.dtype.base_dtype),
            self._use_locking,
        )  # fmt: skip


def apply_to_rows(grad, var, m, v, scalars, use_locking):
    """A step of Adam with the rows of a sparse gradient; `scalars` are both powers, the rate, betas and epsilon."""
    beta1_power, beta2_power, lr, beta1, beta2, epsilon = scalars
    rate = lr * ops.sqrt(1 - beta2_power) / (1 - beta1_power)
    indices = grad.indices
    update = _apply_to_resource if is_resource_variable(var) else _apply_to_reference

    def mean():
        return beta1 * ops.gather(m, indices) + (1 - beta1) * grad.values

    def mean_of_squares():
        return beta2 * ops.gather(v, indices) + (1 - beta2) * ops.square(grad.values)

    return update(var, m, v, indices, mean, mean_of_squares, rate, epsilon, use_locking)


def _apply_to_reference(var, m, v, indices, mean, mean_of_squares, rate, epsilon, use_locking):
    m_t = ops.scatter_update(m, indices, mean(), use_locking=use_locking)
    v_t = ops.scatter_update(v, indices, mean_of_squares(), use_locking=use_locking)
    m_rows = ops.gather(m_t, indices)
    v_rows = ops.gather(v_t, indices)
    root = ops.sqrt(v_rows) + epsilon
    step = ops.scatter_sub(var, indices, rate * m_rows / root, use_locking=use_locking)
    return group(step, m_t, v_t)


def _apply_to_resource(var, m, v, indices, mean, mean_of_squares, rate, epsilon, use_locking):
    m_rows = mean()
    m_update = ops.resource_scatter_update(m.handle, indices, m_rows)
    v_rows = mean_of_squares()
    v_update = ops.resource_scatter_update(v.handle, indices, v_rows)
    rows = rate * m_rows / (ops.sqrt(v_rows) + epsilon)
    return group(ops.resource_scatter_sub(var.handle, indices, rows), m_update, v_update)

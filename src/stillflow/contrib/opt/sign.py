"""Steps that depend on whether a gradient has the sign of its running mean."""

from __future__ import annotations

import math

from stillflow import ops
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.optimizer import Optimizer


class _SignOptimizer(Optimizer):
    """What both optimizers share: the running mean, and the decay of the influence of signs."""

    def __init__(self, learning_rate, beta, sign_decay_fn, use_locking, name):
        super().__init__(use_locking, name)
        self._lr = learning_rate
        self._beta = beta
        self._sign_decay_fn = sign_decay_fn

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """`Optimizer.apply_gradients`, with the decay of signs at `global_step`."""
        if self._sign_decay_fn is not None:
            self._sign_decay_t = convert_to_tensor(self._sign_decay_fn(global_step), name="sign_decay")
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "m", self._name)

    def _prepare_sign_decay(self):
        if self._sign_decay_fn is None:
            self._sign_decay_t = convert_to_tensor(1.0, name="sign_decay")

    def _cast(self, dtype, *parameters):
        return [ops.cast(parameter, dtype) for parameter in parameters]

    def _mean_of_rows(self, grad, m, beta):
        """The running mean, of which all rows fade."""
        return m.assign(m * beta + grad * (1 - beta), use_locking=self._use_locking)

    def _agreement_of_rows(self, grad, mean):
        """-1, 0 or 1 for each element of the gradient's rows."""
        signs = ops.sign(grad.values)
        return ops.gather(ops.sign(mean), grad.indices) * signs


@public("contrib.opt.PowerSignOptimizer")
class PowerSignOptimizer(_SignOptimizer):
    """The algorithm of Bello and others, "Neural optimizer search with reinforcement learning", 2017:

        m = beta * m + (1 - beta) * gradient
        variable -= learning_rate * base ** (sign_decay * sign(gradient) * sign(m)) * gradient

    Args:
      learning_rate: a number or tensor.
      base: the largest factor of a step; its inverse is the smallest.
      beta: the decay of the running mean.
      sign_decay_fn: a function of the global step that returns the decay of the influence of signs, a scalar from
        0 to 1, such as those of contrib.opt.python.training.sign_decay; by default it is 1.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(
        self, learning_rate=0.1, base=math.e, beta=0.9, sign_decay_fn=None, use_locking=False,
        name="PowerSignOptimizer",
    ):  # fmt: skip
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._logbase = math.log(base)

    def _prepare(self):
        self._lr_t = convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = convert_to_tensor(self._beta, name="beta")
        self._logbase_t = convert_to_tensor(self._logbase, name="logbase")
        self._prepare_sign_decay()

    def _update_dense(self, grad, var):
        parameters = self._cast(var.dtype.base_dtype, self._lr_t, self._logbase_t, self._sign_decay_t, self._beta_t)
        return ops.apply_power_sign(var, self.get_slot(var, "m"), *parameters, grad, use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        dtype = var.dtype.base_dtype
        lr, beta, logbase, e = self._cast(dtype, self._lr_t, self._beta_t, self._logbase_t, math.e)
        m_t = self._mean_of_rows(grad, self.get_slot(var, "m"), beta)
        agreement = self._agreement_of_rows(grad, m_t)
        factor = ops.pow(e, logbase * ops.cast(self._sign_decay_t, dtype) * agreement)
        rows = lr * factor * grad.values
        return group(ops.scatter_sub(var, grad.indices, rows, use_locking=self._use_locking), m_t)


@public("contrib.opt.AddSignOptimizer")
class AddSignOptimizer(_SignOptimizer):
    """The algorithm of Bello and others, "Neural optimizer search with reinforcement learning", 2017:

        m = beta * m + (1 - beta) * gradient
        variable -= learning_rate * (alpha + sign_decay * sign(gradient) * sign(m)) * gradient

    Args:
      learning_rate: a number or tensor.
      alpha: the middle factor of a step.
      beta: the decay of the running mean.
      sign_decay_fn: a function of the global step that returns the decay of the influence of signs, a scalar from
        0 to 1, such as those of contrib.opt.python.training.sign_decay; by default it is 1.
      use_locking: accepted for compatibility; updates are always atomic.
    """

    def __init__(
        self, learning_rate=0.1, alpha=1.0, beta=0.9, sign_decay_fn=None, use_locking=False, name="AddSignOptimizer"
    ):
        super().__init__(learning_rate, beta, sign_decay_fn, use_locking, name)
        self._alpha = alpha

    def _prepare(self):
        self._lr_t = convert_to_tensor(self._lr, name="learning_rate")
        self._beta_t = convert_to_tensor(self._beta, name="beta")
        self._alpha_t = convert_to_tensor(self._alpha, name="alpha")
        self._prepare_sign_decay()

    def _update_dense(self, grad, var):
        parameters = self._cast(var.dtype.base_dtype, self._lr_t, self._alpha_t, self._sign_decay_t, self._beta_t)
        return ops.apply_add_sign(var, self.get_slot(var, "m"), *parameters, grad, use_locking=self._use_locking)

    def _update_sparse(self, grad, var):
        dtype = var.dtype.base_dtype
        lr, beta, alpha = self._cast(dtype, self._lr_t, self._beta_t, self._alpha_t)
        m_t = self._mean_of_rows(grad, self.get_slot(var, "m"), beta)
        agreement = self._agreement_of_rows(grad, m_t)
        factor = alpha + ops.cast(self._sign_decay_t, dtype) * agreement
        rows = lr * factor * grad.values
        return group(ops.scatter_sub(var, grad.indices, rows, use_locking=self._use_locking), m_t)

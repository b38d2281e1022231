"""LARSOptimizer: momentum whose rate for each variable follows from the norms of it and its gradient."""

from __future__ import annotations

from stillflow import ops
from stillflow.composites.linear_algebra import norm
from stillflow.names import public
from stillflow.training.optimizer import Optimizer


@public("contrib.opt.LARSOptimizer")
class LARSOptimizer(Optimizer):
    """The algorithm of You and others, "Large batch training of convolutional networks", 2017.

    The rate of a variable w with gradient g is

        learning_rate * eeta * |w| / (|g| + weight_decay * |w| + epsilon)

    where both norms are positive. Sparse gradients are applied as by tf.train.MomentumOptimizer.

    Args:
      learning_rate, momentum: numbers, tensors or, for sparse gradients, functions that return one.
      weight_decay: the factor of the variable that is added to its gradient.
      eeta: the factor of all rates.
      epsilon: added to the divisor.
      skip_list: parts of names; a variable whose name has one is trained by the learning rate as it is.
      use_nesterov: whether to look ahead.

    Raises ValueError for a negative momentum or weight decay.
    """

    def __init__(
        self, learning_rate, momentum=0.9, weight_decay=0.0001, eeta=0.001, epsilon=0.0, name="LARSOptimizer",
        skip_list=None, use_nesterov=False,
    ):  # fmt: skip
        if momentum < 0.0:
            raise ValueError(f"momentum should be positive: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"weight_decay should be positive: {weight_decay}")
        super().__init__(use_locking=False, name=name)
        self._learning_rate = learning_rate
        self._momentum = momentum
        self._weight_decay = weight_decay
        self._eeta = eeta
        self._epsilon = epsilon
        self._skip_list = skip_list
        self._use_nesterov = use_nesterov

    def _create_slots(self, var_list):
        for v in var_list:
            self._zeros_slot(v, "momentum", self._name)

    def compute_lr(self, grad, var):
        """The rate of a variable, and its gradient with the weight decay."""
        rate = self._learning_rate
        if self._skip_list is not None and any(part in var.name for part in self._skip_list):
            return rate, grad
        of_variable = norm(var, ord=2)
        of_gradient = norm(grad, ord=2)
        ratio = ops.where(
            ops.greater(of_variable, 0),
            ops.where(
                ops.greater(of_gradient, 0),
                (self._eeta * of_variable / (of_gradient + self._weight_decay * of_variable + self._epsilon)),
                1.0,
            ),
            1.0,
        )
        return rate * ratio, grad + self._weight_decay * var

    def _prepare(self):
        self._learning_rate_tensor = self._hyperparameter(self._learning_rate, "learning_rate")
        self._momentum_tensor = self._hyperparameter(self._momentum, "momentum")

    def _update_dense(self, grad, var):
        rate, grad = self.compute_lr(grad, var)
        return ops.apply_momentum(
            var,
            self.get_slot(var, "momentum"),
            ops.cast(1.0, var.dtype.base_dtype),
            grad * rate,
            self._momentum,
            use_locking=False,
            use_nesterov=self._use_nesterov,
        )

    def _update_sparse(self, grad, var):
        dtype = var.dtype.base_dtype
        return ops.sparse_apply_momentum(
            var,
            self.get_slot(var, "momentum"),
            ops.cast(self._learning_rate_tensor, dtype),
            grad.values,
            grad.indices,
            ops.cast(self._momentum_tensor, dtype),
            use_locking=False,
            use_nesterov=self._use_nesterov,
        )

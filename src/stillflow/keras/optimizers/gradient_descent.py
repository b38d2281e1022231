"""SGD: steps against the gradient, with momentum if wanted."""

from __future__ import annotations

from stillflow import ops
from stillflow.graph.operation import Tensor
from stillflow.keras.optimizers.base import OptimizerV2
from stillflow.names import public


def uses_momentum(momentum):
    """Whether it is more than 0, or may be. Raises ValueError for a number that is not in [0, 1]."""
    if isinstance(momentum, (int, float)) and (momentum < 0 or momentum > 1):
        raise ValueError("`momentum` must be between [0, 1].")
    return isinstance(momentum, Tensor) or callable(momentum) or momentum > 0


@public("keras.optimizers.SGD")
class SGD(OptimizerV2):
    """velocity = momentum * velocity - learning_rate * gradient; the variable moves by the velocity.

    Args:
      learning_rate: a number, a schedule, or a function that returns it.
      momentum: the share of the velocity that is kept.
      nesterov: whether the gradient is taken where the momentum leads to.
      name: the name scope.
    """

    def __init__(self, learning_rate=0.01, momentum=0.0, nesterov=False, name="SGD", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("decay", self._initial_decay)
        self._momentum = uses_momentum(momentum)
        self._set_hyper("momentum", momentum)
        self.nesterov = nesterov

    def _create_slots(self, var_list):
        if self._momentum:
            for variable in var_list:
                self.add_slot(variable, "momentum")

    def _prepare_local(self, var_device, var_dtype, apply_state):
        super()._prepare_local(var_device, var_dtype, apply_state)
        apply_state[var_device, var_dtype]["momentum"] = ops.identity(self._get_hyper("momentum", var_dtype))

    def _apply_dense(self, grad, variable, coefficients, state):
        if not self._momentum:
            return ops.apply_gradient_descent(variable, coefficients["lr_t"], grad, use_locking=self._use_locking)
        return ops.apply_keras_momentum(
            variable, self.get_slot(variable, "momentum"), coefficients["lr_t"], grad, coefficients["momentum"],
            use_locking=self._use_locking, use_nesterov=self.nesterov,
        )  # fmt: skip

    def _apply_sparse_duplicates(self, grad, variable, coefficients, state):
        if self._momentum:
            return super()._apply_sparse_duplicates(grad, variable, coefficients, state)
        return ops.resource_scatter_add(variable.handle, grad.indices, -grad.values * coefficients["lr_t"])

    def _apply_sparse(self, grad, variable, indices, coefficients, state):
        return ops.sparse_apply_keras_momentum(
            variable, self.get_slot(variable, "momentum"), coefficients["lr_t"], grad, indices,
            coefficients["momentum"], use_locking=self._use_locking, use_nesterov=self.nesterov,
        )  # fmt: skip

    def get_config(self):
        return {
            **super().get_config(), **self._hypers("learning_rate", "decay", "momentum"), "nesterov": self.nesterov,
        }  # fmt: skip

"""Weight decay apart from the gradient, for any optimizer."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.contrib.opt.rows import scatter_add
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.training.adam import AdamOptimizer
from stillflow.training.momentum import MomentumOptimizer
from stillflow.training.optimizer import Optimizer

_Next: Any = object  # the optimizer that is extended comes next in the order of base classes


@public("contrib.opt.DecoupledWeightDecayExtension")
class DecoupledWeightDecayExtension(_Next):
    """What makes an optimizer decay weights, before each step: variable -= weight_decay * variable.

    After Loshchilov and Hutter, "Decoupled weight decay regularization", 2017. The first base class of an optimizer,
    whose other is the optimizer to extend:

        class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer): ...

    The decay is not multiplied with the learning rate: who lets one fall must let the other fall too.

    Args:
      weight_decay: a number, a tensor, or a function that returns one.
      kwargs: the arguments of the other base class.
    """

    def __init__(self, weight_decay, **kwargs):
        self._weight_decay = weight_decay
        self._decay_var_list = None  # None for all variables
        super().__init__(**kwargs)

    def minimize(
        self, loss, global_step=None, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, name=None, grad_loss=None, decay_var_list=None,
    ):  # fmt: skip
        """`Optimizer.minimize`, which decays `decay_var_list`, by default all variables."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().minimize(
            loss, global_step=global_step, var_list=var_list, gate_gradients=gate_gradients,
            aggregation_method=aggregation_method, colocate_gradients_with_ops=colocate_gradients_with_ops, name=name,
            grad_loss=grad_loss,
        )  # fmt: skip

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """`Optimizer.apply_gradients`, which decays `decay_var_list`, by default all variables."""
        self._decay_var_list = set(decay_var_list) if decay_var_list else None
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _prepare(self):
        if callable(self._weight_decay):
            self._weight_decay_value = self._weight_decay()
        else:
            self._weight_decay_value = self._weight_decay
        convert_to_tensor(self._weight_decay_value, name="weight_decay")
        super()._prepare()

    def _is_decayed(self, var):
        return self._decay_var_list is None or var in self._decay_var_list

    def _decayed(self, var):
        if self._is_decayed(var):
            return var.assign_sub(self._weight_decay_value * var, self._use_locking)
        return ops.no_op()

    def _decayed_rows(self, var, indices):
        if self._is_decayed(var):
            rows = -self._weight_decay_value * ops.gather(var, indices)
            return scatter_add(var, indices, rows, self._use_locking)
        return ops.no_op()

    def _apply_dense(self, grad, var):
        with get_default_graph().control_dependencies([self._decayed(var)]):
            return super()._apply_dense(grad, var)

    def _resource_apply_dense(self, grad, var):
        with get_default_graph().control_dependencies([self._decayed(var)]):
            return super()._resource_apply_dense(grad, var)

    def _apply_sparse(self, grad, var):
        with get_default_graph().control_dependencies([self._decayed_rows(var, grad.indices)]):
            return super()._apply_sparse(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        with get_default_graph().control_dependencies([self._decayed_rows(var, indices)]):
            return super()._resource_apply_sparse(grad, var, indices)


@public("contrib.opt.extend_with_decoupled_weight_decay")
def extend_with_decoupled_weight_decay(base_optimizer: Any):
    """A class of optimizers like `base_optimizer`, whose first argument is `weight_decay`.

    The other arguments are those of `base_optimizer`, by name.
    """

    class OptimizerWithDecoupledWeightDecay(DecoupledWeightDecayExtension, base_optimizer):
        def __init__(self, weight_decay, *args, **kwargs):
            super().__init__(weight_decay, *args, **kwargs)

    return OptimizerWithDecoupledWeightDecay


@public("contrib.opt.MomentumWOptimizer")
class MomentumWOptimizer(DecoupledWeightDecayExtension, MomentumOptimizer):
    """tf.train.MomentumOptimizer with decoupled weight decay.

    Args:
      weight_decay: a number, a tensor, or a function that returns one.
      learning_rate, momentum, use_locking, use_nesterov: as for MomentumOptimizer.
    """

    def __init__(
        self, weight_decay, learning_rate, momentum, use_locking=False, name="MomentumW", use_nesterov=False
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, momentum=momentum, use_locking=use_locking, name=name,
            use_nesterov=use_nesterov,
        )  # fmt: skip


@public("contrib.opt.AdamWOptimizer")
class AdamWOptimizer(DecoupledWeightDecayExtension, AdamOptimizer):
    """tf.train.AdamOptimizer with decoupled weight decay.

    Args:
      weight_decay: a number, a tensor, or a function that returns one.
      learning_rate, beta1, beta2, epsilon, use_locking: as for AdamOptimizer.
    """

    def __init__(
        self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False, name="AdamW"
    ):
        super().__init__(
            weight_decay, learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            use_locking=use_locking, name=name,
        )  # fmt: skip

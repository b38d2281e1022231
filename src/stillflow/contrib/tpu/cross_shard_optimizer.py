"""tf.contrib.tpu.CrossShardOptimizer: an optimizer for replicas of a model, of which there is one."""

from __future__ import annotations

from stillflow.losses.weighted import Reduction
from stillflow.names import public
from stillflow.training.optimizer import Optimizer
from stillflow.training_loop.messages import log


@public("contrib.tpu.CrossShardOptimizer", "tpu.CrossShardOptimizer")
class CrossShardOptimizer(Optimizer):
    """Applies the sum of the gradients of all replicas: those of the one that there is on the processor.

    Args:
      opt: the optimizer.
      reduction: tf.losses.Reduction.SUM or MEAN.
      name: of the optimizer.
      group_assignment: which replicas' gradients are added; a list of lists.

    Raises:
      ValueError: for another reduction.
    """

    def __init__(self, opt, reduction=Reduction.MEAN, name="CrossShardOptimizer", group_assignment=None):
        if reduction not in (Reduction.SUM, Reduction.MEAN):
            raise ValueError(f"Unsupported reduction: {reduction}.")
        super().__init__(False, name)
        self._opt = opt
        self._group_assignment = group_assignment

    def compute_gradients(self, loss, var_list=None, **kwargs):
        """The optimizer's gradients. Raises ValueError for groups that are no permutation of the one replica."""
        log().warning(
            "CrossShardOptimizer should be used within a tpu_shard_context, but got unset number_of_shards. "
            "Assuming 1."
        )
        if self._group_assignment:
            _check_groups(self._group_assignment)
        return self._opt.compute_gradients(loss, var_list=var_list, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """What the optimizer's method returns."""
        return self._opt.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, *args, **kwargs):
        """A slot of the optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        """The names of the optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self):
        """The optimizer's variables."""
        return self._opt.variables()


def _check_groups(groups):
    if not (isinstance(groups, list) and all(isinstance(group, list) for group in groups)):
        raise ValueError(f"group_assignment must be a list of list. Got {groups}")
    if {replica for group in groups for replica in group} != {0}:
        raise ValueError(f"group_assignment must be a permutation of range(1). Got group_assignment={groups}")

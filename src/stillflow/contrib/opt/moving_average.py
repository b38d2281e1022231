"""MovingAverageOptimizer: keeps averages of what another optimizer trains, and saves those."""

from __future__ import annotations

from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.saver.saveable import by_name as variables_by_name
from stillflow.saver.saver import Saver
from stillflow.training.moving_averages import ExponentialMovingAverage
from stillflow.training.optimizer import Optimizer
from stillflow.variables.listing import global_variables
from stillflow.variables.partitioned_variables import PartitionedVariable


@public("contrib.opt.MovingAverageOptimizer")
class MovingAverageOptimizer(Optimizer):
    """Trains by another optimizer, and keeps a moving average of each variable.

    Save with `swapping_saver`, which writes each average under the name of its variable and the other way round:
    whoever restores the checkpoint with a common Saver gets the averages, which are often the better model.

    Args:
      opt: the optimizer.
      average_decay, num_updates: as for tf.train.ExponentialMovingAverage.
      sequential_update: whether averages are updated after the variables, and not at the same time.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        super().__init__(False, "MovingAverage")
        self._optimizer = opt
        self._ema = ExponentialMovingAverage(average_decay, num_updates=num_updates)
        self._swapped: dict[str, str] = {}  # name -> the name to save it under; empty before a step is built
        self._sequential_update = sequential_update

    def compute_gradients(self, *args, **kwargs):
        """What the optimizer computes."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that applies gradients as the optimizer does, and updates the averages."""
        grads_and_vars = list(grads_and_vars)
        train_op = self._optimizer.apply_gradients(grads_and_vars, global_step=global_step, name=name)
        var_list = [v for grad, v in grads_and_vars if grad is not None]
        with get_default_graph().control_dependencies([train_op] if self._sequential_update else []):
            average_op = self._ema.apply(var_list)
        self._swapped = {}
        for v in var_list:
            average = self._ema.average(v)
            self._swapped[v.op.name] = average.op.name
            self._swapped[average.op.name] = v.op.name
        return group(train_op, average_op, name="train_with_avg")

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that swaps the names of variables and their averages.

        Args:
          var_list: the variables to save, as for tf.train.Saver; by default all variables.
          name: the name of the saver.
          kwargs: further arguments of tf.train.Saver.

        Raises:
          RuntimeError: if `apply_gradients` or `minimize` has not been called.
          ValueError: if a variable is to be saved, but not its average.
        """
        if not self._swapped:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        if var_list is None:
            var_list = global_variables()
        if not isinstance(var_list, dict):
            var_list = variables_by_name(var_list)
        by_name: dict = {}
        for key, item in var_list.items():
            if _has_parts(item):
                by_name.update((part.op.name, part) for part in item)
            else:
                by_name[key] = item
        swapped = {}
        for key, item in var_list.items():
            if _has_parts(item):
                swapped[key] = [self._swap(by_name, part.op.name, part) for part in item]
            else:
                swapped[key] = self._swap(by_name, key, item)
        return Saver(swapped, name=name, **kwargs)

    def _swap(self, by_name, name, variable):
        """What to save under the name of a variable."""
        other = self._swapped.get(name)
        if other is None:
            return variable
        if other not in by_name:
            raise ValueError(
                f"Variable to swap {other} is not part of variables to save. This breaks MovingAverageOptimizer."
            )
        return by_name[other]


def _has_parts(item):
    return isinstance(item, (list, tuple, PartitionedVariable))

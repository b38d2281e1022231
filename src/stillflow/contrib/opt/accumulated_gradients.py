"""AGNOptimizer: workers train on their own, and a shared center follows the means of their gradients."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.opt.worker_variables import FirstValues, TripleGetter
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.training.optimizer import Optimizer
from stillflow.variables.assignments import assign, assign_add
from stillflow.variables.creators import variable_creator_scope
from stillflow.variables.get_variable import get_variable
from stillflow.variables.listing import trainable_variables


@public("contrib.opt.AGNCustomGetter")
class AGNCustomGetter(TripleGetter):
    """A custom getter for variables that AGNOptimizer trains.

    What is trained becomes the worker's variable, the center that all workers share, and the worker's sum of
    gradients, "grad_variable/name".

    Args:
      worker_device: the worker's device.
    """

    companion_name = "grad_variable"


@public("contrib.opt.AGNOptimizer")
class AGNOptimizer(Optimizer):
    """Accumulated gradient normalization: after some steps on its own a worker applies their mean gradient.

    The mean is applied to the center, from which the worker then goes on (Hermans, Spanakis and Moeckel,
    "Accumulated gradient normalization").

    Args:
      optimizer: the optimizer of the worker's steps and the center's.
      num_worker: how many workers there are.
      custom_getter: the AGNCustomGetter of the variables.
      communication_period: how many steps there are from one exchange to the next.
      use_locking: accepted.
      name: the name of the optimizer.
    """

    def __init__(
        self, optimizer, num_worker, custom_getter, communication_period=10, use_locking=True, name="AGNOptimizer"
    ):
        super().__init__(use_locking, name)
        self._opt = optimizer
        self._num_worker = num_worker
        self._getter = custom_getter
        self._period = communication_period
        self._local_step = get_variable(
            "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        optimizer._prepare()

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that takes a step, and exchanges values with the center when it is time.

        Args:
          grads_and_vars: (gradient, variable) pairs of the worker's variables.
          global_step: a variable that counts exchanges.
          name: ignored.
        """
        grads_and_vars = list(grads_and_vars)
        pairs = [(grad, variable) for grad, variable in grads_and_vars if grad is not None]
        with variable_creator_scope(_create_local):
            updates = [self._opt.apply_gradients(grads_and_vars)]
        updates += [assign_add(self._getter.companions[variable], grad) for grad, variable in pairs]
        step = assign_add(self._local_step, 1, name="local_step_update").op
        with control_dependencies([step]):
            is_time = ops.equal(ops.floor_mod(self._local_step, self._period), 0)
        with control_dependencies(updates):
            return cond(is_time, lambda: self._exchange([v for _, v in pairs], global_step), ops.no_op)

    def _exchange(self, trained, global_step):
        sums = [self._getter.companions[variable] for variable in trained]
        centers = [self._getter._global_map[variable] for variable in trained]
        with control_dependencies([assign(each, each / self._period) for each in sums]):
            update = self._opt.apply_gradients(zip(sums, centers, strict=True))
        with control_dependencies([update]):
            updates = []
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
            for variable, center in zip(trained, centers, strict=True):
                updates.append(assign(variable, center.read_value()))
            updates += [assign(each, ops.zeros_like(each)) for each in sums]
            return group(*updates)

    def get_init_op(self, task_index):
        """The operation that sets the worker's variables to the center, sums to 0. Raises ValueError without any."""
        variables = trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables,grad_center_variables should not be empty"
            )
        updates = [assign(variable, self._getter._global_map[variable]) for variable in variables]
        sums = [self._getter.companions[variable] for variable in variables]
        return group(*updates, *(assign(each, ops.zeros_like(each)) for each in sums))

    def make_session_run_hook(self, is_chief, task_index):
        """A hook that runs the operation of `get_init_op` in each new session."""
        return FirstValues(lambda: self.get_init_op(task_index), is_chief)


def _create_local(next_creator, collections=None, **kwargs):
    """A creator of variables that are local: an optimizer's slots stay with the worker."""
    if not collections:
        collections = [GraphKeys.LOCAL_VARIABLES]
    elif GraphKeys.GLOBAL_VARIABLES in collections:
        others = [key for key in collections if key != GraphKeys.GLOBAL_VARIABLES]
        collections = [*others, GraphKeys.LOCAL_VARIABLES]
    return next_creator(collections=collections, **kwargs)

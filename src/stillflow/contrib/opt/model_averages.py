"""ModelAverageOptimizer: workers train on their own, and go on from the mean of their variables now and then."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.contrib.opt.worker_variables import CENTER, FirstValues, get_untrained_local_at
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies, device
from stillflow.graph.name_scope import name_scope
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.accumulators import ConditionalAccumulator
from stillflow.resources.queues import FIFOQueue
from stillflow.training.optimizer import Optimizer
from stillflow.variables.assignments import assign, assign_add
from stillflow.variables.get_variable import get_variable
from stillflow.variables.listing import trainable_variables
from stillflow.variables.variable import Variable


@public("contrib.opt.ModelAverageCustomGetter")
class ModelAverageCustomGetter:
    """A custom getter for variables that ModelAverageOptimizer trains.

    What is trained becomes the worker's variable and the center that all workers share.

    Args:
      worker_device: the worker's device.
    """

    def __init__(self, worker_device):
        self._worker_device = worker_device
        self._local_2_global: dict[Any, Any] = {}  # the worker's variable -> the shared one

    def __call__(self, getter, name, trainable, collections, *args, **kwargs):
        if not trainable:
            return get_untrained_local_at(self._worker_device, getter, name, collections, *args, **kwargs)
        with device(self._worker_device):
            local = getter(name, *args, trainable=True, collections=[GraphKeys.LOCAL_VARIABLES], **kwargs)
        self._local_2_global[local] = Variable(
            local.initialized_value(),
            trainable=False,
            collections=[GraphKeys.GLOBAL_VARIABLES],
            name=f"{CENTER}/{name}",
        )
        return local


@public("contrib.opt.ModelAverageOptimizer")
class ModelAverageOptimizer(Optimizer):
    """Each worker trains its own variables by another optimizer; after some steps all go on from their mean.

    Workers wait for each other: the chief takes the mean when all have given their values.

    Args:
      opt: the optimizer.
      num_worker: how many workers there are.
      is_chief: whether this worker takes the mean.
      ma_custom_getter: the ModelAverageCustomGetter of the variables.
      interval_steps: how many steps there are from one mean to the next.
      use_locking: accepted.
      name: the name of the optimizer.
    """

    def __init__(
        self, opt, num_worker, is_chief, ma_custom_getter, interval_steps=100, use_locking=True,
        name="ModelAverageOptimizer",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._is_chief = is_chief
        self._centers = ma_custom_getter._local_2_global
        self._interval_steps = interval_steps
        self._chief_init_op = None
        self._local_step = get_variable(
            "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        opt._prepare()

    def compute_gradients(self, *args, **kwargs):
        """What the optimizer computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that takes a step, and takes part in the mean when it is time.

        Args:
          grads_and_vars: (gradient, variable) pairs of the worker's variables.
          global_step: the variable that counts means.
          name: ignored.

        Raises:
          ValueError: without pairs or without a global step.
        """
        grads_and_vars = list(grads_and_vars)
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required")
        update = self._opt.apply_gradients(grads_and_vars)
        with control_dependencies([update]):
            step = assign_add(self._local_step, 1, name="local_step_update").op
        trained = [variable for grad, variable in grads_and_vars if grad is not None]
        accumulators: list = []  # (accumulator, device) pairs
        with control_dependencies([step]):
            is_time = ops.equal(ops.floor_mod(self._local_step, self._interval_steps), 0)
            train_op = cond(is_time, lambda: self._meet(trained, global_step, accumulators), ops.no_op)
        settings = []
        for accumulator, place in accumulators:
            with device(place):
                settings.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
        self._chief_init_op = group(*settings)
        return train_op

    def _meet(self, trained, global_step, accumulators):
        """Gives the worker's values, waits until the chief has taken the mean, and takes that."""
        with colocate_with(global_step):
            tokens = FIFOQueue(-1, [dtypes.bool_], [[]], shared_name="sync_queue")
        given, means = [], []
        with name_scope(None, f"{self._name}/global"):
            for variable in trained:
                center = self._centers[variable]
                with device(center.device):
                    accumulator = ConditionalAccumulator(
                        variable.dtype, shape=variable.shape, shared_name=f"{center.name}/var_accum"
                    )
                    given.append(accumulator.apply_grad(variable._ref(), local_step=global_step))
                    means.append(accumulator.take_grad(self._num_worker))
                    accumulators.append((accumulator, center.device))
        with control_dependencies(given):
            if self._is_chief:
                sync = self._take_means(trained, means, global_step, tokens)
            else:
                with device(global_step.device):
                    sync = tokens.dequeue()
        with control_dependencies([sync]):
            return self._follow(trained)

    def _take_means(self, trained, means, global_step, tokens):
        """Sets the center to the means, and hands out a token for each other worker."""
        updates = []
        for variable, mean in zip(trained, means, strict=True):
            center = self._centers[variable]
            with device(center.device):
                updates.append(assign(center, mean))
        with device(global_step.device):
            updates.append(assign_add(global_step, 1))
        with control_dependencies(updates), device(global_step.device):
            return tokens.enqueue_many(ops.fill([self._num_worker - 1], ops.constant(False)))

    def _follow(self, variables):
        """Sets the worker's variables to the center."""
        if not variables:
            raise ValueError("The list of local_variables should not be empty")
        updates = []
        for variable in variables:
            with device(variable.device):
                updates.append(assign(variable, self._centers[variable].read_value()))
        return group(*updates)

    def get_init_op(self):
        """The operation that sets the worker's variables to the center. Raises ValueError if there are none."""
        return self._follow(trainable_variables())

    def make_session_run_hook(self):
        """A hook that adds the operation of `get_init_op` to the graph; it is run by whoever wants it."""
        return _Added(self.get_init_op, self._is_chief)


class _Added(FirstValues):
    """As in TensorFlow the operation is built, but no session runs it."""

    def after_create_session(self, session, coord):
        """Runs nothing."""

"""ElasticAverageOptimizer: workers train on their own, tied to a center that they pull along."""

from __future__ import annotations

from stillflow import ops
from stillflow.contrib.opt.worker_variables import FirstValues, TripleGetter, get_untrained_local_at
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies, device
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.queues import FIFOQueue
from stillflow.saver.saveable import by_name
from stillflow.saver.saver import Saver
from stillflow.training.optimizer import Optimizer
from stillflow.variables.assignments import assign, assign_add, assign_sub
from stillflow.variables.get_variable import get_variable
from stillflow.variables.listing import global_variables, trainable_variables


@public("contrib.opt.ElasticAverageCustomGetter")
class ElasticAverageCustomGetter(TripleGetter):
    """A custom getter for variables that ElasticAverageOptimizer trains.

    What is trained becomes the worker's variable, the center that all workers share, and the worker's copy of the
    center, "local_center_variable/name".

    Args:
      worker_device: the worker's device.
    """

    companion_name = "local_center_variable"

    def get_untrained(self, getter, name, collections, *args, **kwargs):
        """A variable that is not trained: on the worker if it is a local one."""
        return get_untrained_local_at(self._worker_device, getter, name, collections, *args, **kwargs)


@public("contrib.opt.ElasticAverageOptimizer")
class ElasticAverageOptimizer(Optimizer):
    """Elastic averaging SGD: each worker trains its own variables by another optimizer.

    After every `communication_period` steps a worker and the center move towards each other, by `moving_rate` times
    their difference (Zhang, Choromanska and LeCun, "Deep learning with elastic averaging SGD").

    Args:
      opt: the optimizer.
      num_worker: how many workers there are.
      ea_custom_getter: the ElasticAverageCustomGetter of the variables.
      communication_period: how many steps there are from one exchange to the next.
      moving_rate: 0.9 / communication_period / num_worker if it is None.
      rho: how strongly the loss ties a worker to the center, moving_rate / learning rate if it is None.
      use_locking: accepted.
      synchronous: whether workers wait for each other before the first step.
      name: the name of the optimizer.
    """

    def __init__(
        self, opt, num_worker, ea_custom_getter, communication_period=10, moving_rate=None, rho=None,
        use_locking=True, synchronous=False, name="ElasticAverageOptimizer",
    ):  # fmt: skip
        super().__init__(use_locking, name)
        self._opt = opt
        self._num_worker = num_worker
        self._period = communication_period
        self._getter = ea_custom_getter
        self._synchronous = synchronous
        self._moving_rate = 0.9 / communication_period / num_worker if moving_rate is None else moving_rate
        self._rho = self._moving_rate / opt._learning_rate if rho is None else rho
        self._local_step = get_variable(
            "local_step", initializer=0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES]
        )
        opt._prepare()

    def compute_gradients(
        self, loss, var_list=None, gate_gradients=Optimizer.GATE_OP, aggregation_method=None,
        colocate_gradients_with_ops=False, grad_loss=None,
    ):  # fmt: skip
        """What the optimizer computes for the loss and `rho` times half the square of the way to the center."""
        var_list = var_list or trainable_variables()
        copies = [self._getter.companions[variable] for variable in var_list]
        ways = [ops.sub(v, copy) for v, copy in zip(trainable_variables(), copies, strict=False)]
        loss = loss + self._rho * ops.add_n([ops.l2_loss(way) for way in ways])
        return self._opt.compute_gradients(
            loss, var_list, gate_gradients, aggregation_method, colocate_gradients_with_ops, grad_loss
        )

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """An operation that takes a step, and exchanges values with the center when it is time.

        Args:
          grads_and_vars: (gradient, variable) pairs of the worker's variables.
          global_step: a variable that counts exchanges.
          name: ignored.
        """
        grads_and_vars = list(grads_and_vars)
        before = {variable.op.name for variable in global_variables()}
        update = self._opt.apply_gradients(grads_and_vars)
        with control_dependencies([update]):
            step = assign_add(self._local_step, 1, name="local_step_update").op
        _make_local(before)
        trained = [variable for grad, variable in grads_and_vars if grad is not None]
        with control_dependencies([step]):
            is_time = ops.equal(ops.floor_mod(self._local_step, self._period), 0)
            return cond(is_time, lambda: self._exchange(trained, global_step), ops.no_op)

    def _exchange(self, trained, global_step):
        centers = [self._getter._global_map[variable] for variable in trained]
        copies = [self._getter.companions[variable] for variable in trained]
        with control_dependencies([copy.assign(center) for copy, center in zip(copies, centers, strict=True)]):
            ways = []
            for variable, copy in zip(trained, copies, strict=True):
                with device(variable.device):
                    ways.append(ops.sub(variable, copy))
            updates = []
            for move, variables in ((assign_sub, trained), (assign_add, centers)):
                for variable, way in zip(variables, ways, strict=True):
                    with device(variable.device):
                        updates.append(move(variable, ops.mul(self._moving_rate, way)))
            if global_step is not None:
                with colocate_with(global_step):
                    updates.append(assign_add(global_step, 1))
        return group(*updates)

    def get_init_op(self, task_index):
        """The operation that sets the worker's variables to the center. Raises ValueError if there are none.

        If the optimizer is synchronous it waits until all workers have done so.
        """
        variables = trainable_variables()
        if not variables:
            raise ValueError(
                "The lists of local_variables, global_center_variables, local_center_variables should not be empty  "
            )
        updates = []
        for variable in variables:
            center = self._getter._global_map[variable]
            updates += [assign(variable, center), assign(self._getter.companions[variable], center)]
        init_op = group(*updates)
        return self._meet([init_op], task_index) if self._synchronous else init_op

    def _meet(self, operations, task_index):
        """Tells all other workers that `operations` have run, and waits until each of them has told."""
        queues = [
            FIFOQueue(self._num_worker, [dtypes.bool_], [[]], shared_name=f"variable_init_sync_queue{i}")
            for i in range(self._num_worker)
        ]
        token = ops.constant(False)
        with control_dependencies(operations):
            told = [ops.no_op() if i == task_index else queue.enqueue(token) for i, queue in enumerate(queues)]
        return group(*told, queues[task_index].dequeue_many(len(queues) - 1))

    def make_session_run_hook(self, is_chief, task_index):
        """A hook that runs the operation of `get_init_op` in each new session."""
        return FirstValues(lambda: self.get_init_op(task_index), is_chief)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that has the center's values under the names of the worker's variables.

        Args:
          var_list: what to save, as for tf.train.Saver; by default what is trained.
          name: the name of the saver.
          kwargs: further arguments of tf.train.Saver.

        Raises:
          RuntimeError: if the custom getter has made no variables.
        """
        centers = self._getter._global_map
        if not centers:
            raise RuntimeError(
                "global_center_variable is empty, please make sure this is called after model created and "
                "ElasticAverageCustomGetter is used when declaring you model"
            )
        var_list = trainable_variables() if var_list is None else var_list
        if not isinstance(var_list, dict):
            var_list = by_name(var_list)
        center_of = {variable.op.name: centers.get(variable, variable) for variable in trainable_variables()}
        swapped = {}
        for key, item in var_list.items():
            if isinstance(item, list):
                swapped[key] = [centers.get(part, part) for part in item]
            else:
                swapped[key] = center_of.get(item.op.name, item)
        return Saver(swapped, name=name, **kwargs)


def _make_local(known):
    """Turns the global variables that are not `known` into local ones: an optimizer's slots stay with the worker."""
    graph = get_default_graph()
    listed = graph.get_collection_ref(GraphKeys.GLOBAL_VARIABLES)
    for variable in [variable for variable in listed if variable.op.name not in known]:
        graph.add_to_collection(GraphKeys.LOCAL_VARIABLES, variable)
    listed[:] = [variable for variable in listed if variable.op.name in known]

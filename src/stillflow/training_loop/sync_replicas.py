"""tf.train.SyncReplicasOptimizer: gradients of several replicas are averaged before a step is taken."""

from __future__ import annotations

import logging
from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.collections import GraphKeys
from stillflow.graph.contexts import colocate_with, control_dependencies, device
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.name_scope import name_scope
from stillflow.graph.operation import Tensor
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.resources.accumulators import ConditionalAccumulator, SparseConditionalAccumulator
from stillflow.resources.queues import FIFOQueue
from stillflow.training.optimizer import Optimizer
from stillflow.training.queue_runner import QueueRunner
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.session_manager import report_of
from stillflow.variables.assignments import assign
from stillflow.variables.listing import global_variables
from stillflow.variables.readiness import report_uninitialized_variables
from stillflow.variables.variable import Variable


@public("train.SyncReplicasOptimizer")
class SyncReplicasOptimizer(Optimizer):
    """Another optimizer, whose steps take the mean of the gradients of several replicas.

    A replica adds its gradients to accumulators that all share, and waits for a token. As soon as enough gradients
    are there, the chief applies their mean, without stale ones, and hands out a token for each replica: the number of
    the step, to which the replica's next gradients belong.

    Args:
      opt: the optimizer that applies the means.
      replicas_to_aggregate: how many gradients make a step.
      total_num_replicas: how many replicas there are, by default as many. More than gradients are backups; fewer
        compute several gradients a step.
      variable_averages: an ExponentialMovingAverage that is updated after each step.
      variables_to_average: its variables.
      use_locking: accepted.
      name: the name scope.
    """

    def __init__(
        self,
        opt,
        replicas_to_aggregate,
        total_num_replicas=None,
        variable_averages=None,
        variables_to_average=None,
        use_locking=False,
        name="sync_replicas",
    ):
        if total_num_replicas is None:
            total_num_replicas = replicas_to_aggregate
        super().__init__(use_locking, name)
        logging.getLogger("tensorflow").info(
            "SyncReplicasV2: replicas_to_aggregate=%s; total_num_replicas=%s",
            replicas_to_aggregate,
            total_num_replicas,
        )
        self._opt = opt
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas
        self._tokens_per_step = max(total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._gradients_applied = False
        self._global_step: Any = None
        self._local_step: Any = None
        self._sync_token_queue: Any = None
        self._chief_queue_runner = None
        self._accumulators: list = []  # (accumulator, device) pairs

    def compute_gradients(self, *args, **kwargs):
        """(gradient, variable) pairs of this replica; see Optimizer.compute_gradients."""
        return self._opt.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of a replica's step: it adds the gradients and waits for a token.

        Args:
          grads_and_vars: (gradient, variable) pairs.
          global_step: the variable that counts steps.
          name: ignored.

        Raises:
          ValueError: without pairs or without a global step, and for gradients that are none.
        """
        if not grads_and_vars:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        self._global_step = global_step
        with colocate_with(ops.no_op()):
            self._local_step = Variable(
                0,
                trainable=False,
                collections=[GraphKeys.LOCAL_VARIABLES],
                dtype=global_step.dtype.base_dtype,
                name="sync_rep_local_step",
            )
        self.local_step_init_op = assign(self._local_step, global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        with name_scope(None, self._name):
            pushes, means = self._accumulated(grads_and_vars)
            with device(global_step.device), name_scope(""):
                update = self._opt.apply_gradients(means, global_step)
                self._sync_token_queue, idle_queue = self._queues()
                with control_dependencies(pushes):
                    token = self._sync_token_queue.dequeue()
                train_op = assign(self._local_step, token)
                with control_dependencies([update]):
                    tokens = ops.fill([self._tokens_per_step], global_step)
                    sync = self._sync_token_queue.enqueue_many((tokens,))
                if self._variable_averages is not None:
                    with control_dependencies([sync]), name_scope(""):
                        sync = self._variable_averages.apply(self._variables_to_average)
                self._chief_queue_runner = QueueRunner(idle_queue, [sync])
            settings = [self.local_step_init_op]
            for accumulator, place in self._accumulators:
                with device(place):
                    settings.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
            self.chief_init_op = group(*settings)
        self._gradients_applied = True
        return train_op

    def _accumulated(self, grads_and_vars):
        """(operations that add gradients, (mean, variable) pairs)."""
        pushes, means = [], []
        for gradient, variable in grads_and_vars:
            with device(variable.device):
                if gradient is None:
                    means.append((None, variable))
                    continue
                shared_name = f"{variable.name}/grad_accum"
                if isinstance(gradient, Tensor):
                    accumulator: Any = ConditionalAccumulator(
                        gradient.dtype, shape=variable.shape, shared_name=shared_name
                    )
                    pushes.append(accumulator.apply_grad(gradient, local_step=self._local_step))
                    mean = accumulator.take_grad(self._replicas_to_aggregate)
                elif isinstance(gradient, IndexedSlices):
                    accumulator = SparseConditionalAccumulator(gradient.dtype, shape=(), shared_name=shared_name)
                    pushes.append(accumulator.apply_indexed_slices_grad(gradient, local_step=self._local_step))
                    mean = accumulator.take_indexed_slices_grad(self._replicas_to_aggregate)
                else:
                    raise ValueError("Unknown grad type!")
                means.append((mean, variable))
                self._accumulators.append((accumulator, variable.device))
        return pushes, means

    def _queues(self):
        """The queue of tokens, and one that is only there because a QueueRunner wants one."""
        tokens = FIFOQueue(
            -1, self._global_step.dtype.base_dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q"
        )
        return tokens, FIFOQueue(1, dtypes.int32, shapes=(), name="dummy_queue", shared_name="dummy_queue")

    def get_chief_queue_runner(self):
        """The QueueRunner with which the chief applies means. Raises ValueError before apply_gradients()."""
        if not self._gradients_applied:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_slot(self, *args, **kwargs):
        """A slot of the wrapped optimizer."""
        return self._opt.get_slot(*args, **kwargs)

    def variables(self):
        """The variables of the wrapped optimizer."""
        return self._opt.variables()

    def get_slot_names(self, *args, **kwargs):
        """The names of the slots of the wrapped optimizer."""
        return self._opt.get_slot_names(*args, **kwargs)

    def get_init_tokens_op(self, num_tokens=-1):
        """The operation that hands out the first tokens.

        Args:
          num_tokens: how many; -1 for as many as gradients make a step.

        Raises:
          ValueError: before apply_gradients(), or if the first step could not end with so few.
        """
        if not self._gradients_applied:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        if num_tokens <= 0:
            return ops.no_op(name="no_init_tokens")
        with device(self._global_step.device), name_scope(""):
            tokens = ops.fill([num_tokens], self._global_step)
            return self._sync_token_queue.enqueue_many((tokens,))

    def make_session_run_hook(self, is_chief, num_tokens=-1):
        """A hook that initializes what the optimizer needs; the chief's also runs its queue and hands out tokens."""
        return _SyncReplicasHook(self, is_chief, num_tokens)


class _SyncReplicasHook(SessionRunHook):
    """See SyncReplicasOptimizer.make_session_run_hook."""

    def __init__(self, optimizer, is_chief, num_tokens):
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self):
        optimizer = self._optimizer
        if not optimizer._gradients_applied:
            raise ValueError("SyncReplicasOptimizer.apply_gradient should be called before using the hook.")
        self._queue_runner = self._first_tokens = None
        self._local_init_op = optimizer.local_step_init_op
        if self._is_chief:
            self._local_init_op = optimizer.chief_init_op
            self._queue_runner = optimizer.get_chief_queue_runner()
            self._first_tokens = optimizer.get_init_tokens_op(self._num_tokens)

    def after_create_session(self, session, coord):
        title = "Model is not ready for SyncReplicasOptimizer local init."
        problem = report_of(self._optimizer.ready_for_local_init_op, session, title)
        if problem is not None:
            raise RuntimeError(
                "Init operations did not make model ready for SyncReplicasOptimizer local_init. "
                f"Init op: {self._local_init_op.name}, error: {problem}"
            )
        session.run(self._local_init_op)
        if self._first_tokens is not None:
            session.run(self._first_tokens)
        if self._queue_runner is not None:
            self._queue_runner.create_threads(session, coord=coord, daemon=True, start=True)

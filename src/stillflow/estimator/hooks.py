"""tf.estimator.experimental.InMemoryEvaluatorHook, and hooks that wait for the last checkpoint."""

from __future__ import annotations

import time

from stillflow import ops
from stillflow.estimator.estimator import checked_hooks
from stillflow.estimator.train_call import step_of
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.names import public
from stillflow.ops.control_flow.dependencies import group
from stillflow.training_loop.hooks.hook import SessionRunArgs, SessionRunHook
from stillflow.training_loop.hooks.step_reading import step_tensor
from stillflow.training_loop.hooks.step_timer import SecondOrStepTimer
from stillflow.training_loop.hooks.stopping import StopAtStepHook
from stillflow.training_loop.scaffold import Scaffold


@public("estimator.experimental.InMemoryEvaluatorHook", "contrib.estimator.InMemoryEvaluatorHook")
class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates as training goes on, with the values that the variables have, without a checkpoint.

    Args:
      estimator: the Estimator.
      input_fn: as for Estimator.evaluate.
      steps: how many batches.
      hooks: SessionRunHooks for the evaluations.
      name: of the evaluation.
      every_n_iter: how often, in runs.

    Raises ValueError for a number that is not positive, and in a cluster.
    """

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0 or estimator.config.num_worker_replicas > 1:
            raise ValueError("InMemoryEvaluator supports only single machine (aka Local) setting.")
        self._estimator = estimator
        self._input_fn = input_fn
        self._eval_dir = estimator.eval_dir(name)
        self._hooks = checked_hooks(hooks) + estimator._convert_eval_steps_to_hooks(steps)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self):
        """Builds the graph of the evaluation. Raises ValueError if its model has a Saver or function of its own."""
        self._timer.reset()
        self._iter_count = 0
        self._graph = Graph()
        with self._graph.as_default():
            self._scaffold, self._update_op, self._eval_dict, self._all_hooks = self._estimator._evaluate_build_graph(
                self._input_fn, self._hooks, checkpoint_path=None
            )
            if self._scaffold.saver is not None:
                raise ValueError("InMemoryEvaluator does not support custom saver")
            if self._scaffold.init_fn is not None:
                raise ValueError("InMemoryEvaluator does not support custom init_fn")
            self._eval_variables = _variables_by_name()
            self._placeholders = {
                name: ops.placeholder(variable.dtype.base_dtype) for name, variable in self._eval_variables.items()
            }

    def after_create_session(self, session, coord):
        if get_default_graph().get_collection(GraphKeys.SAVEABLE_OBJECTS):
            raise ValueError("InMemoryEvaluator does not support saveables other than global variables.")
        trained = _variables_by_name()
        self._train_variables = {name: trained[name] for name in self._eval_variables if name in trained}
        with self._graph.as_default():
            assigns = [self._eval_variables[name].assign(self._placeholders[name]) for name in self._train_variables]
            self._feed_op = group(*assigns)
        self._evaluate(session)

    def after_run(self, run_context, run_values):
        self._iter_count += 1
        if self._timer.should_trigger_for_step(self._iter_count):
            self._evaluate(run_context.session)

    def end(self, session):
        self._evaluate(session)

    def _evaluate(self, train_session):
        values = train_session.run(self._train_variables)
        feeds = {self._placeholders[name]: value for name, value in values.items()}
        scaffold = Scaffold(
            init_fn=lambda _, session: session.run(self._feed_op, feed_dict=feeds), copy_from_scaffold=self._scaffold
        )
        with self._graph.as_default():
            self._estimator._evaluate_run(
                checkpoint_path=None,
                scaffold=scaffold,
                update_op=self._update_op,
                eval_dict=self._eval_dict,
                all_hooks=self._all_hooks,
                output_dir=self._eval_dir,
            )
        self._timer.update_last_triggered_step(self._iter_count)


def _variables_by_name():
    found = get_default_graph().get_collection(GraphKeys.GLOBAL_VARIABLES)
    return {variable.name: variable for variable in found}


@public(
    "estimator.experimental.make_stop_at_checkpoint_step_hook",
    "contrib.estimator.make_stop_at_checkpoint_step_hook",
)
def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """A hook that ends training at a step: that of the chief there, those of others when it has been saved.

    Args:
      estimator: the Estimator.
      last_step: the step.
      wait_after_file_check_secs: how long to wait between two looks for the checkpoint, in seconds.
    """
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStepHook(estimator.model_dir, last_step, wait_after_file_check_secs)


@public("python.estimator.hooks.hooks._StopAtCheckpointStepHook")
class _StopAtCheckpointStepHook(SessionRunHook):
    """Ends training when there is a checkpoint of a step."""

    def __init__(self, model_dir, last_step, wait_after_file_check_secs=30):
        if last_step is None:
            raise ValueError("last_step must be specified.")
        if model_dir is None:
            raise ValueError("model_dir must be specified.")
        self._model_dir = model_dir
        self._last_step = last_step
        self._wait_secs = wait_after_file_check_secs

    def begin(self):
        self._global_step_tensor = step_tensor("StopAtCheckpointStepHook")

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 < self._last_step:
            return
        if step_of(self._model_dir) >= self._last_step:
            run_context.request_stop()
        else:
            time.sleep(self._wait_secs)

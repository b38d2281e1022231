"""A call of Estimator.train: its graph's session, hooks and loop, and how a call that was broken off goes on.

A checkpoint that was written in the midst of a call has its note: at which step the call will be over. Who calls
`train` after it was killed goes on with the input and the random numbers where that checkpoint was. After a call that
came to its end, the next one begins with both anew, as each call does in TensorFlow.
"""

from __future__ import annotations

import json

from stillflow.composites.summaries import scalar
from stillflow.estimator.cluster_environment import TaskType
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver import session_state
from stillflow.saver.checkpoint_reader import load_checkpoint
from stillflow.saver.checkpoint_state import latest_checkpoint
from stillflow.saver.saver import Saver
from stillflow.saver.warm_start import warm_start
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverHook
from stillflow.training_loop.hooks.hook import SessionRunHook
from stillflow.training_loop.hooks.progress import LoggingTensorHook, StepCounterHook
from stillflow.training_loop.hooks.stopping import NanTensorHook
from stillflow.training_loop.hooks.summaries import SummarySaverHook
from stillflow.training_loop.messages import log
from stillflow.training_loop.monitored_session import MonitoredTrainingSession


@public("python.estimator.estimator._load_global_step_from_checkpoint_dir")
def step_of(checkpoint_dir):
    """The global step of the newest checkpoint in a folder, 0 if there is none."""
    path = latest_checkpoint(checkpoint_dir)
    return 0 if path is None else _step_in(path)


def _step_in(path):
    try:
        return load_checkpoint(path).get_tensor(GraphKeys.GLOBAL_STEP)
    except Exception:  # whatever is wrong with it is said when it is restored
        return 0


# ---- Going on where a call was broken off -------------------------------------------------------------------------


class _Call:
    """A call of `train` as its checkpoints tell of it; the policy of its graph (see saver.session_state)."""

    def __init__(self, steps, max_steps):
        self._steps = steps
        self._last_step = max_steps
        self._is_over = False
        self._notes: list = []

    def note(self, session):
        """The note of a checkpoint."""
        note = json.dumps({"last_step": self._last_step, "is_over": self._is_over}).encode()
        self._notes.append(note)
        return note

    def resumes(self, note, prefix):
        """Whether a checkpoint with this note was written in the midst of a call."""
        if note is None:  # it was not written by a call
            return True
        found = json.loads(note)
        last_step = found["last_step"]
        return not found["is_over"] and (last_step is None or _step_in(prefix) < last_step)

    def start(self, step):
        """Takes note of the step at which the call begins."""
        if self._last_step is None and self._steps is not None:
            self._last_step = int(step) + self._steps

    def finish(self):
        """What is saved from now on is saved at the end."""
        self._is_over = True

    def is_end_unknown(self, step):
        """Whether the last checkpoint, which was written at `step`, seems to be one in the midst of the call."""
        if not self._notes or (self._last_step is not None and step >= self._last_step):
            return False
        return not json.loads(self._notes[-1])["is_over"]


class _CallStart(SessionRunHook):
    """Stands before the hooks that write checkpoints."""

    def __init__(self, call, step_tensor):
        self._call = call
        self._step_tensor = step_tensor

    def after_create_session(self, session, coord):
        self._call.start(session.run(self._step_tensor))

    def end(self, session):
        self._call.finish()


class _CallEnd(SessionRunHook):
    """Stands behind them. Where the last checkpoint was not known to be the last, it writes that once more."""

    def __init__(self, call, step_tensor, scaffold):
        self._call = call
        self._step_tensor = step_tensor
        self._scaffold = scaffold

    def end(self, session):
        saver = self._scaffold.saver
        if self._call.is_end_unknown(session.run(self._step_tensor)) and saver.last_checkpoints:
            saver.save(session, saver.last_checkpoints[-1], write_meta_graph=False, write_state=False)


# ---- The call -----------------------------------------------------------------------------------------------------


class TrainCall:
    """What a call of `train` needs besides the model: its Estimator, hooks, listeners and end.

    Args:
      estimator: the Estimator.
      hooks: the SessionRunHooks given.
      saving_listeners: the CheckpointSaverListeners given.
      steps: how many steps to do.
      max_steps: the global step to stop at, instead.
    """

    def __init__(self, estimator, hooks, saving_listeners, steps=None, max_steps=None):
        self._estimator = estimator
        self._config = estimator.config
        self._hooks = hooks
        self._saving_listeners = saving_listeners
        self._call = _Call(steps, max_steps)

    def run(self, spec, input_hooks, step_tensor):
        """Trains the model of an EstimatorSpec in the default graph. Returns the last loss, None without steps.

        Raises ValueError for listeners when nothing is saved, and what the session raises.
        """
        settings = self._estimator._warm_start_settings
        if settings:
            log().info("Warm-starting with WarmStartSettings: %s", settings)
            warm_start(*settings)
        self._add_to_collections(spec)
        worker_hooks = [*input_hooks, *self._hooks, NanTensorHook(spec.loss)]
        if self._config.log_step_count_steps is not None:
            tensors = {"loss": spec.loss, "step": step_tensor}
            worker_hooks.append(LoggingTensorHook(tensors, every_n_iter=self._config.log_step_count_steps))
        worker_hooks.extend(spec.training_hooks)
        saving_hooks = self._saving_hooks(spec, worker_hooks)
        summary_steps, log_steps = self._leave_reports_to_worker(spec, worker_hooks)
        session_state.set_policy(get_default_graph(), self._call)
        chief_hooks = (_CallStart(self._call, step_tensor), *saving_hooks, *spec.training_chief_hooks)
        worker_hooks.append(_CallEnd(self._call, step_tensor, spec.scaffold))
        config = self._config
        with MonitoredTrainingSession(
            master=config.master,
            is_chief=config.is_chief,
            checkpoint_dir=self._estimator.model_dir,
            scaffold=spec.scaffold,
            hooks=worker_hooks,
            chief_only_hooks=chief_hooks,
            save_checkpoint_secs=0,
            save_summaries_steps=summary_steps,
            config=config.session_config,
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=log_steps,
        ) as session:
            loss = None
            any_step_done = False
            while not session.should_stop():
                _, loss = session.run([spec.train_op, spec.loss])
                any_step_done = True
        if not any_step_done:
            log().warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
        return loss

    def _add_to_collections(self, spec):
        """Adds what the graph lacks: a summary of the loss, and a Saver."""
        graph = get_default_graph()
        if not any(summary.op.name == "loss" for summary in graph.get_collection(GraphKeys.SUMMARIES)):
            scalar("loss", spec.loss)
        graph.add_to_collection(GraphKeys.LOSSES, spec.loss)

    def _saving_hooks(self, spec, worker_hooks):
        """The hook that writes checkpoints, unless there is one; listeners are added to either."""
        config, graph = self._config, get_default_graph()
        if not (spec.scaffold.saver or graph.get_collection(GraphKeys.SAVERS)):
            graph.add_to_collection(
                GraphKeys.SAVERS,
                Saver(
                    sharded=True,
                    max_to_keep=config.keep_checkpoint_max,
                    keep_checkpoint_every_n_hours=config.keep_checkpoint_every_n_hours,
                    defer_build=True,
                    save_relative_paths=True,
                ),
            )
        found = [
            hook for hook in (*worker_hooks, *spec.training_chief_hooks) if isinstance(hook, CheckpointSaverHook)
        ]
        made = []
        if not found and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            made = [
                CheckpointSaverHook(
                    self._estimator.model_dir,
                    save_secs=config.save_checkpoints_secs,
                    save_steps=config.save_checkpoints_steps,
                    scaffold=spec.scaffold,
                )
            ]
        if self._saving_listeners:
            if not (found or made):
                raise ValueError(
                    "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                    "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
                )
            listeners = (found or made)[0]._listeners
            listeners.extend(listener for listener in self._saving_listeners if listener not in listeners)
        return made

    def _leave_reports_to_worker(self, spec, worker_hooks):
        """How often this task writes summaries and steps per second.

        In a cluster with a master, which evaluates as well, the first worker does it.
        """
        config = self._config
        jobs = config.cluster_spec.jobs if config.cluster_spec else ()
        if TaskType.WORKER not in jobs or TaskType.MASTER not in jobs:
            return config.save_summary_steps, config.log_step_count_steps
        if config.task_type == TaskType.WORKER and config.task_id == 0:
            folder = config.model_dir
            if config.save_summary_steps and config.save_summary_steps > 0:
                worker_hooks.append(
                    SummarySaverHook(config.save_summary_steps, output_dir=folder, scaffold=spec.scaffold)
                )
            if config.log_step_count_steps and config.log_step_count_steps > 0:
                worker_hooks.append(StepCounterHook(every_n_steps=config.log_step_count_steps, output_dir=folder))
        return 0, None

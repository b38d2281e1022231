"""tf.train.MonitoredSession and its kin: sessions that initialize, save, log, stop and recover by themselves."""

from __future__ import annotations

import inspect

from stillflow import errors
from stillflow.graph.collections import GraphKeys
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training.coordinator import Coordinator
from stillflow.training.queue_runner import start_queue_runners
from stillflow.training_loop import session_layers
from stillflow.training_loop.hooks.checkpoints import CheckpointSaverHook
from stillflow.training_loop.hooks.progress import StepCounterHook
from stillflow.training_loop.hooks.summaries import SummarySaverHook
from stillflow.training_loop.scaffold import Scaffold
from stillflow.training_loop.session_creators import ChiefSessionCreator, SessionCreator, WorkerSessionCreator
from stillflow.training_loop.session_layers import CoordinatedSession, HookedSession, RecoverableSession

# Stands for an argument that is not given, where None means something.
USE_DEFAULT = public("python.training.monitored_session.USE_DEFAULT")(object())


class _MonitoredSession:
    """What MonitoredSession and SingularMonitoredSession have in common."""

    StepContext = session_layers.StepContext

    def __init__(self, session_creator, hooks, should_recover, stop_grace_period_secs):
        self._graph_was_finalized = get_default_graph().finalized
        self._hooks = hooks or []
        for hook in self._hooks:
            hook.begin()
        self._coordinated_creator = _CoordinatedSessionCreator(
            session_creator or ChiefSessionCreator(), self._hooks, stop_grace_period_secs
        )
        self._sess = (
            RecoverableSession(self._coordinated_creator)
            if should_recover
            else self._coordinated_creator.create_session()
        )

    @property
    def graph(self):
        """The graph of the session; None when it is closed."""
        session = self._tf_sess()
        return None if session is None else session.graph

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs like tf.Session.run, and the hooks with it.

        Raises:
          RuntimeError: if the session has been asked to stop, or hooks and the program feed the same tensor.
          What the run, or a hook, raises.
        """
        return self._sess.run(fetches, feed_dict, options, run_metadata)

    def run_step_fn(self, step_fn):
        """Calls a function that does a step, and returns what it returns.

        Args:
          step_fn: a function of `step_context`, which has the bare session as `session`, the session with hooks as
            `run_with_hooks`, and `request_stop`.

        Raises:
          StopIteration: if the function calls `request_stop`; the context of the session takes it for the end.
          ValueError: for a function with other arguments.
        """
        names = tuple(inspect.signature(step_fn).parameters)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and `step_context` arguments if "
                f"it's an instance method. Got {names} instead."
            )
        return self._sess.run_step_fn(step_fn, self._tf_sess)

    def should_stop(self):
        """Whether a hook or a thread wants to stop, or the session is closed."""
        return self._sess is None or self._sess.should_stop()

    def close(self):
        """Calls the hooks' `end`, stops the threads and closes the session.

        Raises RuntimeError if it is closed already, and what the threads have failed with.
        """
        self._close_internal()

    def __enter__(self):
        return self

    def __exit__(self, exception_type, exception_value, traceback):
        if exception_type in (errors.OutOfRangeError, StopIteration):
            exception_type = None
        self._close_internal(exception_type)
        return exception_type is None

    def _close_internal(self, exception_type=None):
        try:
            if not exception_type:
                for hook in self._hooks:
                    hook.end(self._tf_sess())
        finally:
            try:
                if self._sess is None:
                    raise RuntimeError("Session is already closed.")
                self._sess.close()
            finally:
                self._sess = None
                self._coordinated_creator.tf_sess = None
                self._coordinated_creator.coord = None
                if not self._graph_was_finalized:
                    get_default_graph()._unsafe_unfinalize()

    def _is_closed(self):
        return self._tf_sess() is None

    def _tf_sess(self):
        return self._coordinated_creator.tf_sess


class _CoordinatedSessionCreator(SessionCreator):
    """Makes sessions with a coordinator each, starts their queue runners and tells the hooks."""

    def __init__(self, session_creator, hooks, stop_grace_period_secs):
        self._session_creator = session_creator
        self._hooks = hooks
        self._stop_grace_period_secs = stop_grace_period_secs
        self.coord = None
        self.tf_sess = None

    def create_session(self):
        self.tf_sess = self._session_creator.create_session()
        # Also the end of the input is to be raised by the run that meets it.
        self.coord = Coordinator(clean_stop_exception_types=[])
        if get_default_graph().get_collection(GraphKeys.QUEUE_RUNNERS):
            start_queue_runners(sess=self.tf_sess, coord=self.coord)
        for hook in self._hooks:
            hook.after_create_session(self.tf_sess, self.coord)
        return CoordinatedSession(HookedSession(self.tf_sess, self._hooks), self.coord, self._stop_grace_period_secs)


@public("train.MonitoredSession")
class MonitoredSession(_MonitoredSession):
    """A session that initializes or restores its model, starts the queue runners, and calls hooks around each run.

    After tf.errors.AbortedError and UnavailableError it goes on with a new session. As a context it closes itself,
    and takes tf.errors.OutOfRangeError and StopIteration for the end of the training.

        with tf.train.MonitoredSession(hooks=[...]) as session:
            while not session.should_stop():
                session.run(train_op)

    Args:
      session_creator: makes the sessions; by default a ChiefSessionCreator.
      hooks: SessionRunHooks.
      stop_grace_period_secs: how long threads may take to stop, in seconds.
    """

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        super().__init__(session_creator, hooks, True, stop_grace_period_secs)


@public("train.SingularMonitoredSession")
class SingularMonitoredSession(_MonitoredSession):
    """A MonitoredSession that does not recover, and that shows its session.

    Args:
      hooks: SessionRunHooks.
      scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path: as for ChiefSessionCreator.
      stop_grace_period_secs: how long threads may take to stop, in seconds.
    """

    def __init__(
        self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None, stop_grace_period_secs=120,
        checkpoint_filename_with_path=None,
    ):  # fmt: skip
        creator = ChiefSessionCreator(
            scaffold=scaffold,
            master=master,
            config=config,
            checkpoint_dir=checkpoint_dir,
            checkpoint_filename_with_path=checkpoint_filename_with_path,
        )
        super().__init__(creator, hooks, False, stop_grace_period_secs)

    def raw_session(self):
        """The tf.Session."""
        return self._tf_sess()


@public("train.MonitoredTrainingSession")
def MonitoredTrainingSession(  # noqa: N802
    master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None, chief_only_hooks=None,
    save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT, save_summaries_secs=USE_DEFAULT, config=None,
    stop_grace_period_secs=120, log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
    summary_dir=None,
):  # fmt: skip
    """A MonitoredSession that writes checkpoints and summaries, and goes on from the newest checkpoint.

    Args:
      master: the session's target: "" for this process.
      is_chief: whether to initialize, restore and save; otherwise the session waits for somebody else to initialize.
      checkpoint_dir: the folder of the checkpoints; None for none.
      scaffold: a Scaffold; by default a new one.
      hooks: SessionRunHooks.
      chief_only_hooks: more of them, if this is the chief.
      save_checkpoint_secs: how often to save, in seconds; 600 by default, None for never.
      save_summaries_steps: how often to write summaries, in steps; 100 by default, None for never.
      save_summaries_secs: how often, in seconds, instead.
      config: a ConfigProto.
      stop_grace_period_secs: how long threads may take to stop, in seconds.
      log_step_count_steps: how often to log the steps per second, in steps; None or 0 for never.
      max_wait_secs: how long one that is not the chief waits, in seconds.
      save_checkpoint_steps: how often to save, in steps, instead.
      summary_dir: the folder of the summaries; by default that of the checkpoints.

    Raises ValueError if times are given both in steps and in seconds.
    """
    save_summaries_steps, save_summaries_secs = _period(save_summaries_steps, save_summaries_secs, (100, None))
    save_checkpoint_steps, save_checkpoint_secs = _period(save_checkpoint_steps, save_checkpoint_secs, (None, 600))
    scaffold = scaffold or Scaffold()
    if not is_chief:
        worker = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        return MonitoredSession(worker, hooks or [], stop_grace_period_secs)
    all_hooks = list(chief_only_hooks or ())
    summary_dir = summary_dir or checkpoint_dir
    if summary_dir and log_step_count_steps and log_step_count_steps > 0:
        all_hooks.append(StepCounterHook(every_n_steps=log_step_count_steps, output_dir=summary_dir))
    if summary_dir and _is_sometimes(save_summaries_steps, save_summaries_secs):
        all_hooks.append(
            SummarySaverHook(save_summaries_steps, save_summaries_secs, output_dir=summary_dir, scaffold=scaffold)
        )
    if checkpoint_dir and _is_sometimes(save_checkpoint_steps, save_checkpoint_secs):
        all_hooks.append(
            CheckpointSaverHook(checkpoint_dir, save_checkpoint_secs, save_checkpoint_steps, scaffold=scaffold)
        )
    all_hooks.extend(hooks or ())
    creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
    return MonitoredSession(creator, all_hooks, stop_grace_period_secs)


def _period(steps, secs, default):
    """How often, in steps and in seconds, if neither, one, or both are given."""
    if steps is USE_DEFAULT and secs is USE_DEFAULT:
        return default
    return None if steps is USE_DEFAULT else steps, None if secs is USE_DEFAULT else secs


def _is_sometimes(steps, secs):
    return bool((steps and steps > 0) or (secs and secs > 0))

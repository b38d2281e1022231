"""tf.train.SessionRunHook: what a hook is, and what passes between it and the session that calls it."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.names import public


@public("train.SessionRunHook", "estimator.SessionRunHook")
class SessionRunHook:
    """Something that a monitored session calls at certain times. Subclasses override what they need."""

    def begin(self):
        """Called once, before the session is made; the only time at which nodes may be added to the graph."""

    def after_create_session(self, session, coord):
        """Called when a session has been made and its variables have values, also after a recovery.

        Args:
          session: the tf.Session.
          coord: the Coordinator of its threads.
        """

    def before_run(self, run_context):
        """Called before each run. Returns SessionRunArgs: what to run besides; or None.

        Args:
          run_context: a SessionRunContext.
        """

    def after_run(self, run_context, run_values):
        """Called after each run that has not failed.

        Args:
          run_context: the SessionRunContext that `before_run` was given; its `request_stop` ends the training.
          run_values: a SessionRunValues.
        """

    def end(self, session):
        """Called before the session is closed, unless an error other than the end of the input closes it."""


@public("train.SessionRunArgs", "estimator.SessionRunArgs")
class SessionRunArgs(NamedTuple):
    """What a hook wants to be run, and with which feeds and RunOptions."""

    fetches: Any
    feed_dict: Any = None
    options: Any = None


@public("train.SessionRunValues", "estimator.SessionRunValues")
class SessionRunValues(NamedTuple):
    """The values of what a hook asked for; and the RunOptions and RunMetadata of the run."""

    results: Any
    options: Any
    run_metadata: Any


@public("train.SessionRunContext", "estimator.SessionRunContext")
class SessionRunContext:
    """A run, as its hooks see it."""

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self):
        """The SessionRunArgs that the program gave to `run`."""
        return self._original_args

    @property
    def session(self):
        """The session that runs; hooks may use it, and are not called for that."""
        return self._session

    @property
    def stop_requested(self):
        """Whether a hook has asked to stop."""
        return self._stop_requested

    def request_stop(self):
        """Makes the monitored session's `should_stop` True after this run."""
        self._stop_requested = True

"""tf.train.SessionManager: makes sessions whose variables have values, from a checkpoint or from initializers."""

from __future__ import annotations

import time

import numpy as np

from stillflow import errors
from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.saver import checkpoint_state
from stillflow.session.session import Session
from stillflow.training_loop.messages import log


@public("train.SessionManager")
class SessionManager:
    """Makes sessions and sees to it that their models are ready.

    Args:
      local_init_op: run for every new session.
      ready_op: a string vector: the names of the variables without a value. A model is ready when it is empty.
      ready_for_local_init_op: the same for what `local_init_op` needs.
      graph: the graph; by default the default graph.
      recovery_wait_secs: how long to sleep, in seconds, when something is waited for.
      local_init_run_options: a RunOptions message for `local_init_op`.

    Raises ValueError if there is a `ready_for_local_init_op` and no `local_init_op`.
    """

    def __init__(
        self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None, recovery_wait_secs=30,
        local_init_run_options=None,
    ):  # fmt: skip
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , ready_for_local_init_op "
                f"[{ready_for_local_init_op}]"
            )
        self._local_init_op = local_init_op
        self._ready_op = ready_op
        self._ready_for_local_init_op = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._recovery_wait_secs = recovery_wait_secs
        self._local_init_run_options = local_init_run_options

    def prepare_session(
        self, master, init_op=None, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
        wait_for_checkpoint=False, max_wait_secs=7200, config=None, init_feed_dict=None, init_fn=None,
    ):  # fmt: skip
        """A session with a model from a checkpoint or, if there is none, from `init_op` and `init_fn`.

        Args:
          master: the session's target: "" for this process.
          init_op: initializes the variables.
          saver: restores them.
          checkpoint_dir: the folder of which to restore the newest checkpoint.
          checkpoint_filename_with_path: the checkpoint to restore, instead.
          wait_for_checkpoint: whether to wait for one to be there.
          max_wait_secs: for how long, in seconds.
          config: a ConfigProto for the session.
          init_feed_dict: what to feed to `init_op`.
          init_fn: a function of the session, called after `init_op`.

        Raises:
          RuntimeError: if there is nothing to initialize with, or the model is not ready after it.
          ValueError: if both a folder and a checkpoint are given.
        """
        session, is_restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        if not is_restored:
            if init_op is None and not init_fn and self._local_init_op is None:
                raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn:
                init_fn(session)
        what = f"Init op: {_name_of(init_op)}, init fn: {init_fn}"
        missing = self._run_local_init_op(session)
        if missing:
            raise RuntimeError(f"Init operations did not make model ready for local_init.  {what}, error: {missing}")
        missing = self._missing(session)
        if missing:
            raise RuntimeError(
                f"Init operations did not make model ready.  {what}, local_init_op: {self._local_init_op}, error: "
                f"{missing}"
            )
        return session

    def recover_session(
        self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None, wait_for_checkpoint=False,
        max_wait_secs=7200, config=None,
    ):  # fmt: skip
        """A session, and whether its model could be restored and is ready. The arguments are prepare_session's.

        Raises ValueError if both a folder and a checkpoint are given.
        """
        session, is_restored = self._restore_checkpoint(
            master, saver, checkpoint_dir, checkpoint_filename_with_path, wait_for_checkpoint, max_wait_secs, config
        )
        missing = self._run_local_init_op(session)
        if not is_restored:
            return session, False
        place = checkpoint_dir or checkpoint_filename_with_path
        if missing:
            log().info("Restoring model from %s did not make model ready for local init: %s", place, missing)
            return session, False
        missing = self._missing(session)
        if missing:
            log().info("Restoring model from %s did not make model ready: %s", place, missing)
            return session, False
        log().info("Restored model from %s", place)
        return session, True

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session whose model somebody else has made ready.

        Args:
          master: the session's target.
          config: a ConfigProto for it.
          max_wait_secs: how long to wait, in seconds; None for as long as it takes.

        Raises tf.errors.DeadlineExceededError when that time is over.
        """
        if max_wait_secs is None:
            max_wait_secs = float("Inf")
        end = time.monotonic() + max_wait_secs
        while True:
            session = Session(master, graph=self._graph, config=config)
            local_missing, missing = self._run_local_init_op(session), None
            if not local_missing:
                missing = self._missing(session)
                if not missing:
                    return session
            session.close()
            if time.monotonic() + self._recovery_wait_secs > end:
                raise errors.DeadlineExceededError(
                    None, None, f"Session was not ready after waiting {max_wait_secs:.0f} secs."
                )
            log().info(
                "Waiting for model to be ready.  Ready_for_local_init_op:  %s, ready: %s", local_missing, missing
            )
            time.sleep(self._recovery_wait_secs)

    def _restore_checkpoint(
        self, master, saver, checkpoint_dir, checkpoint_file, wait_for_checkpoint, max_wait_secs, config
    ):
        """A session, and whether a checkpoint has been restored in it."""
        session = Session(master, graph=self._graph, config=config)
        if checkpoint_dir and checkpoint_file:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        if not saver or not (checkpoint_dir or checkpoint_file):
            return session, False
        if checkpoint_file:
            saver.restore(session, checkpoint_file)
            return session, True
        waited_secs = 0
        state = checkpoint_state.get_checkpoint_state(checkpoint_dir)
        while state is None:
            if not wait_for_checkpoint or waited_secs >= max_wait_secs:
                return session, False
            log().info("Waiting for checkpoint to be available.")
            time.sleep(self._recovery_wait_secs)
            waited_secs += self._recovery_wait_secs
            state = checkpoint_state.get_checkpoint_state(checkpoint_dir)
        # A damaged checkpoint is passed over for the one before it.
        newest = checkpoint_state.latest_checkpoint(checkpoint_dir)
        saver.restore(session, newest or state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return session, True

    # ---- Is the model ready? ----------------------------------------------------------------------------------

    def _run_local_init_op(self, session):
        """Runs the operation. If what it needs is missing it does not, and returns what that is."""
        if self._local_init_op is None:
            return None
        missing = report_of(self._ready_for_local_init_op, session, "Model not ready for local init")
        if missing:
            return missing
        log().info("Running local_init_op.")
        session.run(self._local_init_op, options=self._local_init_run_options)
        log().info("Done running local_init_op.")
        return None

    def _missing(self, session):
        """What the model still lacks, as text, or None."""
        return report_of(self._ready_op, session, "Model not ready")


@public("python.training.session_manager._ready")
def is_ready(op, sess, msg):
    """(whether an operation that looks for missing values has found none, what it has found as text, or None)."""
    missing = report_of(op, sess, msg)
    return missing is None, missing


def report_of(op, session, title):
    """What an operation that looks for missing values has found, as text, or None."""
    if op is None:
        return None
    try:
        found = session.run(op)
    except errors.FailedPreconditionError as error:
        if "uninitialized" in str(error):
            return str(error)
        log().warning("%s : error [%s]", title, error)
        raise
    if found is None or found.dtype == np.int32 or found.size == 0:
        return None
    return f"Variables not initialized: {', '.join(name.decode() for name in found)}"


def _name_of(item):
    if item is None:
        return "None"
    return getattr(item, "name", f"<no name for {type(item)}>")

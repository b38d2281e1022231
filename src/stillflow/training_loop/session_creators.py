"""tf.train.ChiefSessionCreator and WorkerSessionCreator: how monitored sessions get sessions, and new ones."""

from __future__ import annotations

import abc

from stillflow.graph.default_graph import get_default_graph
from stillflow.names import public
from stillflow.training_loop.scaffold import Scaffold
from stillflow.training_loop.session_manager import SessionManager


@public("train.SessionCreator")
class SessionCreator(abc.ABC):
    """Makes sessions."""

    @abc.abstractmethod
    def create_session(self):
        """A new tf.Session that is ready to be used."""


class _ScaffoldSessionCreator(SessionCreator):
    """What both creators have in common: a scaffold, and a session manager over what it has."""

    def __init__(self, scaffold, master, config):
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._session_manager: SessionManager | None = None

    def _get_session_manager(self):
        self._scaffold.finalize()
        if self._session_manager is None:
            self._session_manager = SessionManager(
                local_init_op=self._scaffold.local_init_op,
                ready_op=self._scaffold.ready_op,
                ready_for_local_init_op=self._scaffold.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._session_manager


@public("train.ChiefSessionCreator")
class ChiefSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions whose variables are restored from a checkpoint, or initialized if there is none.

    Args:
      scaffold: a Scaffold; by default a new one. It is finalized before a session is made.
      master: the session's target: "" for this process.
      config: a ConfigProto.
      checkpoint_dir: the folder of which to restore the newest checkpoint.
      checkpoint_filename_with_path: the checkpoint to restore, instead.
    """

    def __init__(
        self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None
    ):
        super().__init__(scaffold, master, config)
        self._checkpoint_dir = checkpoint_dir
        self._checkpoint_filename_with_path = checkpoint_filename_with_path

    def create_session(self):
        manager = self._get_session_manager()
        return manager.prepare_session(
            self._master,
            saver=self._scaffold.saver,
            checkpoint_dir=self._checkpoint_dir,
            checkpoint_filename_with_path=self._checkpoint_filename_with_path,
            config=self._config,
            init_op=self._scaffold.init_op,
            init_feed_dict=self._scaffold.init_feed_dict,
            init_fn=self._scaffold.init_fn,
        )


@public("train.WorkerSessionCreator")
class WorkerSessionCreator(_ScaffoldSessionCreator):
    """Makes sessions whose variables somebody else initializes: it waits for that.

    Args:
      scaffold: a Scaffold; by default a new one.
      master: the session's target.
      config: a ConfigProto.
      max_wait_secs: how long to wait, in seconds.
    """

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        super().__init__(scaffold, master, config)
        self._max_wait_secs = max_wait_secs

    def create_session(self):
        manager = self._get_session_manager()
        return manager.wait_for_session(self._master, config=self._config, max_wait_secs=self._max_wait_secs)

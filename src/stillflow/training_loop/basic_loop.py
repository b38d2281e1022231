"""tf.train.basic_train_loop: calls a function until a supervisor stops."""

from __future__ import annotations

from stillflow import errors
from stillflow.names import public


@public("train.basic_train_loop")
def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, *args, **kwargs) in a managed session until the supervisor should stop.

    After tf.errors.AbortedError it begins again with a new session.

    Args:
      supervisor: a Supervisor.
      train_step_fn: the function.
      args, kwargs: its other arguments.
      master: the session's target.
    """
    while True:
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
            return
        except errors.AbortedError:
            continue

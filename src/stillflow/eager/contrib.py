"""What tf.contrib.eager has besides names of other modules."""

from __future__ import annotations

import contextlib

from stillflow.eager.behavior import enable_eager_execution
from stillflow.eager.execution import ASYNC, SYNC
from stillflow.names import public
from stillflow.platform import app


@public("contrib.eager.run")
def run(main=None, argv=None):
    """Like tf.app.run, with eager execution enabled."""
    enable_eager_execution()
    app.run(main, argv)


@public("contrib.eager.num_gpus")
def num_gpus():
    """The number of GPUs, which is 0."""
    return 0


@public("contrib.eager.set_execution_mode")
def set_execution_mode(mode):
    """Accepts None, SYNC and ASYNC: operations have run when they return. Raises ValueError for anything else."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@public("contrib.eager.execution_mode", "python.eager.context.execution_mode")
@contextlib.contextmanager
def execution_mode(mode):
    """A context; what runs in it has run when it returns, whatever the mode."""
    yield


@public("contrib.eager.async_wait")
def async_wait():
    """Waits for what is running, which is nothing."""


@public("contrib.eager.async_clear_error")
def async_clear_error():
    """Forgets the error of what ran in the background, which there is not."""


@public("contrib.eager.get_optimizer_variables")
def get_optimizer_variables(optimizer):
    """The variables that a tf.train.Optimizer has made."""
    return optimizer.variables()

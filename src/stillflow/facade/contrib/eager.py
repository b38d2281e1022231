"""tf.contrib.eager.*"""

from __future__ import annotations

import contextlib

from stillflow.autodiff.custom_gradient import custom_gradient as custom_gradient
from stillflow.datasets.eager_iterator import EagerIterator as Iterator
from stillflow.datasets.specs import TensorSpec as TensorSpec
from stillflow.eager.differentiation import gradients_function as gradients_function
from stillflow.eager.differentiation import implicit_gradients as implicit_gradients
from stillflow.eager.differentiation import implicit_value_and_gradients as implicit_value_and_gradients
from stillflow.eager.differentiation import value_and_gradients_function as value_and_gradients_function
from stillflow.eager.execution import ASYNC as ASYNC
from stillflow.eager.execution import DEVICE_PLACEMENT_EXPLICIT as DEVICE_PLACEMENT_EXPLICIT
from stillflow.eager.execution import DEVICE_PLACEMENT_SILENT as DEVICE_PLACEMENT_SILENT
from stillflow.eager.execution import DEVICE_PLACEMENT_WARN as DEVICE_PLACEMENT_WARN
from stillflow.eager.execution import SYNC as SYNC
from stillflow.eager.gradient_tape import GradientTape as GradientTape
from stillflow.facade.behavior import enable_eager_execution as enable_eager_execution
from stillflow.graph.default_graph import executing_eagerly as executing_eagerly
from stillflow.platform import app
from stillflow.saver.eager_saver import EagerSaver as Saver
from stillflow.saver.objects.checkpoint import Checkpoint as Checkpoint
from stillflow.session.process_settings import LOGICAL_CPU
from stillflow.tracking.structures import AutoTrackable as Checkpointable
from stillflow.variables.resource_variable import ResourceVariable as Variable
from stillflow.variables.scope import EagerVariableStore as EagerVariableStore

__all__ = [
    "ASYNC", "DEVICE_PLACEMENT_EXPLICIT", "DEVICE_PLACEMENT_SILENT", "DEVICE_PLACEMENT_WARN", "SYNC", "Checkpoint",
    "Checkpointable", "EagerVariableStore", "GradientTape", "Iterator", "Saver", "TensorSpec", "Variable",
    "async_clear_error", "async_wait", "custom_gradient", "enable_eager_execution", "executing_eagerly",
    "execution_mode", "get_optimizer_variables", "gradients_function", "implicit_gradients",
    "implicit_value_and_gradients", "in_eager_mode", "list_devices", "num_gpus", "run", "set_execution_mode",
    "value_and_gradients_function",
]  # fmt: skip

in_eager_mode = executing_eagerly


def run(main=None, argv=None):
    """Like tf.app.run, with eager execution enabled."""
    enable_eager_execution()
    app.run(main, argv)


def list_devices():
    """The names of the devices: there is one."""
    return [LOGICAL_CPU.name]


def num_gpus():
    """The number of GPUs, which is 0."""
    return 0


def set_execution_mode(mode):
    """Accepts None, SYNC and ASYNC: operations have run when they return. Raises ValueError for anything else."""
    if mode not in (None, SYNC, ASYNC):
        raise ValueError(f"Execution mode should be None/SYNC/ASYNC. Got {mode}")


@contextlib.contextmanager
def execution_mode(mode):
    """A context; what runs in it has run when it returns, whatever the mode."""
    yield


def async_wait():
    """Waits for what is running, which is nothing."""


def async_clear_error():
    """Forgets the error of what ran in the background, which there is not."""


def get_optimizer_variables(optimizer):
    """The variables that a tf.train.Optimizer has made."""
    return optimizer.variables()

"""tf.config.*: the devices of this process, and defaults of sessions that are made without a ConfigProto."""

from __future__ import annotations

from stillflow.facade.config import experimental as experimental
from stillflow.facade.config import threading as threading
from stillflow.session.process_settings import LOGICAL_CPU as _LOGICAL_CPU
from stillflow.session.process_settings import settings as _settings


def experimental_list_devices():
    """The names of the devices: one CPU."""
    return [_LOGICAL_CPU.name]


def get_soft_device_placement():
    """Whether nodes that are assigned to a device that there is not run all the same."""
    return _settings.allows_soft_placement


def set_soft_device_placement(enabled):
    """Says whether nodes that are assigned to a device that there is not run all the same, in sessions to come."""
    _settings.allows_soft_placement = bool(enabled)

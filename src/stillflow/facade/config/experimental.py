"""tf.config.experimental: the devices there are: one CPU, whose memory grows as it is needed."""

from __future__ import annotations

from stillflow.names import public
from stillflow.session.process_settings import CPU as _CPU
from stillflow.session.process_settings import LOGICAL_CPU as _LOGICAL_CPU


@public("config.experimental.get_visible_devices")
def list_physical_devices(device_type=None):
    """The devices of this machine, of a type such as "CPU" or "GPU", or of all."""
    return [_CPU] if device_type in (None, _CPU.device_type) else []


def list_logical_devices(device_type=None):
    """The devices that nodes can be assigned to, of a type or of all."""
    return [_LOGICAL_CPU] if device_type in (None, _CPU.device_type) else []


def get_visible_devices(device_type=None):
    """The devices that are used, of a type or of all."""
    return list_physical_devices(device_type)


def set_visible_devices(devices, device_type=None):
    """Says which devices to use; the CPU is always one of them.

    Raises ValueError for a device that there is not or that has another type, and for leaving out the CPU.
    """
    devices = [devices] if not isinstance(devices, list) else devices
    for device in devices:
        _check(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    if not devices and device_type in (None, _CPU.device_type):
        raise ValueError("The CPU cannot be hidden: it is the only device")


def get_memory_growth(device):
    """Whether a GPU takes memory as it is needed. Raises KeyError for the CPU, and ValueError for other things."""
    _check(device)
    raise KeyError(device)


def set_memory_growth(device, enable):
    """Whether a GPU is to take memory as it is needed. Raises ValueError: there is none."""
    _check(device)
    raise ValueError("Cannot set memory growth on non-GPU devices")


def _check(device):
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")

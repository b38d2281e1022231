"""tf.config.experimental: the devices there are: one CPU, whose memory grows as it is needed."""

from __future__ import annotations

from stillflow.names import public
from stillflow.session.process_settings import CPU as _CPU
from stillflow.session.process_settings import LOGICAL_CPU as _LOGICAL_CPU
from stillflow.session.process_settings import settings as _settings


@public("config.experimental.list_physical_devices")
@public("config.experimental.get_visible_devices")
def list_physical_devices(device_type=None):
    """The devices of this machine, of a type such as "CPU" or "GPU", or of all."""
    return [_CPU] if device_type in (None, _CPU.device_type) else []


@public("config.experimental.list_logical_devices")
def list_logical_devices(device_type=None):
    """The devices that nodes can be assigned to, of a type or of all."""
    return [_LOGICAL_CPU] if device_type in (None, _CPU.device_type) else []


def get_visible_devices(device_type=None):
    """The devices that are used, of a type or of all."""
    return list_physical_devices(device_type)


@public("config.experimental.set_visible_devices")
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


@public("config.experimental.get_memory_growth")
def get_memory_growth(device):
    """Whether a GPU takes memory as it is needed. Raises KeyError for the CPU, and ValueError for other things."""
    _check(device)
    raise KeyError(device)


@public("config.experimental.set_memory_growth")
def set_memory_growth(device, enable):
    """Whether a GPU is to take memory as it is needed. Raises ValueError: there is none."""
    _check(device)
    raise ValueError("Cannot set memory growth on non-GPU devices")


def _check(device):
    if device != _CPU:
        raise ValueError(f"Unrecognized device: {device!r}")


@public("config.threading.get_intra_op_parallelism_threads")
def get_intra_op_parallelism_threads():
    """How many threads share the work of an operation; 0 for one per processor."""
    return _settings.intra_op_threads


@public("config.threading.set_intra_op_parallelism_threads")
def set_intra_op_parallelism_threads(num_threads):
    """Says how many threads share the work of an operation, in sessions to come; 0 for one per processor.

    Raises ValueError for a negative number.
    """
    _settings.intra_op_threads = _checked(num_threads)


@public("config.threading.get_inter_op_parallelism_threads")
def get_inter_op_parallelism_threads():
    """The number that was set."""
    return _settings.inter_op_threads


@public("config.threading.set_inter_op_parallelism_threads")
def set_inter_op_parallelism_threads(num_threads):
    """Accepted: operations run one after the other here, so that their order is always the same.

    Raises ValueError for a negative number.
    """
    _settings.inter_op_threads = _checked(num_threads)


def _checked(num_threads):
    if num_threads < 0:
        raise ValueError(f"num_threads must not be negative, but is {num_threads}")
    return int(num_threads)


@public("config.experimental_list_devices", "contrib.eager.list_devices")
def experimental_list_devices():
    """The names of the devices: one CPU."""
    return [_LOGICAL_CPU.name]


@public("config.get_soft_device_placement")
def get_soft_device_placement():
    """Whether nodes that are assigned to a device that there is not run all the same."""
    return _settings.allows_soft_placement


@public("config.set_soft_device_placement")
def set_soft_device_placement(enabled):
    """Says whether nodes that are assigned to a device that there is not run all the same, in sessions to come."""
    _settings.allows_soft_placement = bool(enabled)

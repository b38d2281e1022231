"""tf.config.experimental: the devices there are: one CPU, whose memory grows as it is needed.

Four of the functions left `experimental` in TensorFlow 2.1, and programs for its compat.v1 call them so.
"""

from __future__ import annotations

from typing import NamedTuple

from stillflow.names import public
from stillflow.session.process_settings import CPU as _CPU
from stillflow.session.process_settings import LOGICAL_CPU as _LOGICAL_CPU
from stillflow.session.process_settings import settings as _settings


@public("config.experimental.list_physical_devices", "config.list_physical_devices")
@public("config.experimental.get_visible_devices", "config.get_visible_devices")
def list_physical_devices(device_type=None):
    """The devices of this machine, of a type such as "CPU" or "GPU", or of all."""
    return [_CPU] if device_type in (None, _CPU.device_type) else []


@public("config.experimental.list_logical_devices", "config.list_logical_devices")
def list_logical_devices(device_type=None):
    """The devices that nodes can be assigned to, of a type or of all."""
    _virtual_devices.are_in_use = True
    if device_type not in (None, _CPU.device_type):
        return []
    return [_LOGICAL_CPU._replace(name=f"{_LOGICAL_CPU.name[:-1]}{i}") for i in range(_settings.cpu_count)]


@public("config.experimental.VirtualDeviceConfiguration")
class VirtualDeviceConfiguration(NamedTuple):
    """One of the devices that nodes can be assigned to which a device of the machine is seen as.

    `memory_limit` is in megabytes, for GPUs; None for a CPU.
    """

    memory_limit: int | None = None


class _VirtualDevices:
    """As what devices the CPU is seen: a list of VirtualDeviceConfiguration, or None as long as it was not said."""

    def __init__(self):
        self.configurations = None
        self.are_in_use = False


_virtual_devices = _VirtualDevices()


@public("config.experimental.get_virtual_device_configuration")
def get_virtual_device_configuration(device):
    """As what devices a device of the machine is seen: what was set, or None. Raises ValueError for other things."""
    _check(device)
    return _virtual_devices.configurations


@public("config.experimental.set_virtual_device_configuration")
def set_virtual_device_configuration(device, virtual_devices):
    """Says as how many devices the CPU is seen: "/cpu:1" is then a device of sessions that are made without config.

    Args:
      device: what `list_physical_devices` returned.
      virtual_devices: a VirtualDeviceConfiguration for each.

    Raises:
      ValueError: for another device, or a memory limit, which a CPU has not.
      RuntimeError: if the devices have been listed already.
    """
    _check(device)
    if any(configuration.memory_limit is not None for configuration in virtual_devices):
        raise ValueError("Setting memory limit on CPU virtual devices is currently not supported")
    if _virtual_devices.configurations == virtual_devices:
        return
    if _virtual_devices.are_in_use:
        raise RuntimeError("Virtual devices cannot be modified after being initialized")
    _virtual_devices.configurations = list(virtual_devices)
    _settings.cpu_count = max(1, len(virtual_devices))


def get_visible_devices(device_type=None):
    """The devices that are used, of a type or of all."""
    return list_physical_devices(device_type)


@public("config.experimental.set_visible_devices", "config.set_visible_devices")
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
    """The names of the devices that nodes can be assigned to."""
    return [device.name for device in list_logical_devices()]


@public("config.get_soft_device_placement")
def get_soft_device_placement():
    """Whether nodes that are assigned to a device that there is not run all the same."""
    return _settings.allows_soft_placement


@public("config.set_soft_device_placement")
def set_soft_device_placement(enabled):
    """Says whether nodes that are assigned to a device that there is not run all the same, in sessions to come."""
    _settings.allows_soft_placement = bool(enabled)


@public("debugging.get_log_device_placement")
def get_log_device_placement():
    """Whether sessions that are made without a ConfigProto print on which devices operations run."""
    return _settings.logs_device_placement


@public("debugging.set_log_device_placement")
def set_log_device_placement(enabled):
    """Says whether sessions that are made without a ConfigProto print on which devices operations run."""
    _settings.logs_device_placement = bool(enabled)


@public("config.experimental.get_device_policy")
def get_device_policy():
    """What was set in this thread, "silent" before."""
    return _settings.of_thread.device_policy


@public("config.experimental.set_device_policy")
def set_device_policy(device_policy):
    """Says for this thread what becomes of tensors that are on another device than an operation that takes them.

    There is but one device, so they never are.

    Args:
      device_policy: "silent", "silent_for_int32", "warn", "explicit", or None for "silent".

    Raises:
      ValueError: for anything else.
    """
    if device_policy not in (None, "silent", "silent_for_int32", "warn", "explicit"):
        raise ValueError(f"Not a valid device policy: {device_policy!r}")
    _settings.of_thread.device_policy = device_policy or "silent"


@public("config.experimental.get_synchronous_execution")
def get_synchronous_execution():
    """Whether eager operations are said to be run before they return, as they are here."""
    return _settings.of_thread.is_synchronous


@public("config.experimental.set_synchronous_execution")
def set_synchronous_execution(enable):
    """Accepted: an eager operation has always run when it returns. None is True."""
    _settings.of_thread.is_synchronous = enable is None or bool(enable)


@public("config.optimizer.get_jit")
def get_optimizer_jit():
    """Whether the just-in-time compiler was switched on."""
    return _settings.jit


@public("config.optimizer.set_jit")
def set_optimizer_jit(enabled):
    """Accepted: a graph is always compiled to a plan, in one way."""
    _settings.jit = bool(enabled)


# The options in the order in which TensorFlow lists them.
_OPTIMIZER_OPTIONS = (
    "layout_optimizer constant_folding shape_optimization remapping arithmetic_optimization dependency_optimization "
    "loop_optimization function_optimization debug_stripper disable_model_pruning scoped_allocator_optimization "
    "pin_to_host_optimization implementation_selector auto_mixed_precision disable_meta_optimizer min_graph_nodes"
).split()


@public("config.optimizer.get_experimental_options")
def get_optimizer_experimental_options():
    """The options of graph optimization that have been set, a dict."""
    options = _settings.optimizer_options
    return {name: options[name] for name in _OPTIMIZER_OPTIONS if name in options}


@public("config.optimizer.set_experimental_options")
def set_optimizer_experimental_options(options):
    """Accepted: what the options switch gives other speed but the same values, and a plan is always made in one way.

    Args:
      options: a dict such as {"constant_folding": False}. Names that TensorFlow has not are left out.
    """
    for name, value in options.items():
        if name in _OPTIMIZER_OPTIONS:
            _settings.optimizer_options[name] = value if name == "min_graph_nodes" else bool(value)

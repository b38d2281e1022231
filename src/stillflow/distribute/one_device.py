"""Strategies of one device: each puts variables and functions there, as TensorFlow's does when it has but one."""

from __future__ import annotations

import enum

from stillflow import ops
from stillflow.distribute.replica import ReplicaContext
from stillflow.distribute.resolvers import TFConfigClusterResolver
from stillflow.distribute.strategy import Strategy, StrategyExtended
from stillflow.graph import dtypes
from stillflow.graph.contexts import colocate_with, device
from stillflow.graph.device import DeviceSpec
from stillflow.names import public

_CPU, _GPU = "/device:CPU:0", "/device:GPU:0"
_LOCAL = DeviceSpec.from_string("/replica:0/task:0/device:CPU:0")


class OneDeviceExtended(StrategyExtended):
    """How a strategy of one device does it."""

    def __init__(self, container_strategy, place, parameter_device=None):
        super().__init__(container_strategy)
        self._device = DeviceSpec.from_string(place).merged_under(_LOCAL).to_string()
        self._parameter_device = parameter_device or self._device

    def _create_variable(self, next_creator, **options):
        neighbor = options.pop("colocate_with", None)
        with device(self._parameter_device) if neighbor is None else colocate_with(neighbor):
            return next_creator(**options)

    def _call_for_each_replica(self, fn, args, kwargs):
        with device(self._device), ReplicaContext(self._container_strategy(), ops.constant(0, dtypes.int32)):
            return fn(*args, **kwargs)

    def _on_device(self):
        return device(self._parameter_device)

    @property
    def worker_devices(self):
        return (self._device,)

    @property
    def parameter_devices(self):
        return (self._parameter_device,)

    def non_slot_devices(self, var_list):
        return self._parameter_device


@public("distribute.OneDeviceStrategy", "contrib.distribute.OneDeviceStrategy")
class OneDeviceStrategy(Strategy):
    """Puts variables and functions on one device.

    Args:
      device: a device string.
    """

    def __init__(self, device):
        super().__init__(OneDeviceExtended(self, device))


def _the_only(devices):
    """The one device of a list. Raises ValueError if there are more."""
    if isinstance(devices, str):
        return devices
    devices = list(devices)
    if len(devices) != 1:
        raise ValueError(f"A strategy has one device here, the CPU of this machine, not {devices!r}")
    return devices[0]


def _check_one_task(resolver=None):
    """Raises ValueError if the resolver, by default TF_CONFIG, says that there are other tasks."""
    cluster = (resolver or TFConfigClusterResolver()).cluster_spec()
    if sum(cluster.num_tasks(job) for job in cluster.jobs) > 1:
        raise ValueError(f"Strategies run in one process here, but this cluster has several tasks: {cluster}")


@public("distribute.MirroredStrategy")
class MirroredStrategy(Strategy):
    """Replicas on all GPUs of a machine; here one on its CPU.

    Args:
      devices: a list of one device string, by default the CPU's.
      cross_device_ops: accepted: one replica has nothing to reduce.

    Raises:
      ValueError: for several devices.
    """

    def __init__(self, devices=None, cross_device_ops=None):
        super().__init__(OneDeviceExtended(self, _the_only(devices or [_CPU])))


@public("contrib.distribute.MirroredStrategy")
class ContribMirroredStrategy(Strategy):
    """tf.distribute.MirroredStrategy, to which the number of GPUs may be given.

    `num_gpus` or `num_gpus_per_worker` may be 0 for the CPU, or 1 for a GPU, which a session that allows soft
    placement replaces by the CPU. Raises ValueError for more.
    """

    def __init__(
        self,
        devices=None,
        num_gpus=None,
        num_gpus_per_worker=None,
        cross_device_ops=None,
        auto_shard_dataset=False,
        cross_tower_ops=None,
    ):
        if num_gpus is not None and num_gpus_per_worker is not None:
            raise ValueError("You cannot specify both `num_gpus` and `num_gpus_per_worker`.")
        count = num_gpus if num_gpus is not None else num_gpus_per_worker
        if devices is None and count:
            devices = [f"/device:GPU:{index}" for index in range(count)]
        super().__init__(OneDeviceExtended(self, _the_only(devices or [_CPU])))


@public("distribute.experimental.CentralStorageStrategy")
class CentralStorageStrategy(Strategy):
    """Variables on one device, replicas on all: here one on the CPU. Raises ValueError for several devices."""

    def __init__(self, compute_devices=None, parameter_device=None):
        device = _the_only(compute_devices or [_CPU])
        super().__init__(OneDeviceExtended(self, device, parameter_device or _CPU))


@public("distribute.experimental.ParameterServerStrategy")
class ParameterServerStrategy(Strategy):
    """Variables on parameter servers, replicas on workers; here both on the CPU of this one process.

    Raises ValueError if the resolver, by default TF_CONFIG, names several tasks.
    """

    def __init__(self, cluster_resolver=None):
        _check_one_task(cluster_resolver)
        super().__init__(OneDeviceExtended(self, _CPU, _CPU))


@public("contrib.distribute.ParameterServerStrategy")
class ContribParameterServerStrategy(Strategy):
    """tf.distribute.experimental.ParameterServerStrategy of a worker with 0 GPUs, or 1 that the CPU stands for."""

    def __init__(self, num_gpus_per_worker=0):
        _check_one_task()
        super().__init__(OneDeviceExtended(self, _GPU if num_gpus_per_worker else _CPU, _CPU))


@public("distribute.experimental.CollectiveCommunication")
class CollectiveCommunication(enum.Enum):
    """How replicas of several workers tell each other their values."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


@public("distribute.experimental.MultiWorkerMirroredStrategy")
class MultiWorkerMirroredStrategy(Strategy):
    """Replicas on several workers, here on this one alone. Raises ValueError if TF_CONFIG names others."""

    def __init__(self, communication=CollectiveCommunication.AUTO):
        _check_one_task()
        super().__init__(OneDeviceExtended(self, _CPU))


@public("contrib.distribute.CollectiveAllReduceStrategy")
class CollectiveAllReduceStrategy(Strategy):
    """Replicas on several workers, here on this one alone. Raises ValueError if TF_CONFIG names others."""

    def __init__(self, num_gpus_per_worker=0, communication=CollectiveCommunication.AUTO):
        _check_one_task()
        super().__init__(OneDeviceExtended(self, _GPU if num_gpus_per_worker else _CPU))

"""check_devices: a plan runs on the machine's processors, whatever number of CPU devices they are said to be."""

from __future__ import annotations

import functools
from typing import NamedTuple

from stillflow import errors
from stillflow.graph.device import DeviceSpec

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


class Devices(NamedTuple):
    """The devices of a session: how many CPUs, and whether they stand for others of this process, such as a GPU."""

    cpu_count: int = 1
    allows_others: bool = False

    def names(self):
        return [f"{DEVICE[:-1]}{index}" for index in range(self.cpu_count)]


ONE_CPU = Devices()


@functools.cache
def _is_here(device, devices):
    """Whether the device, in full or in part, is one of them."""
    job, replica, task, kind, index = DeviceSpec.from_string(device)
    if job not in (None, "localhost") or replica not in (None, 0) or task not in (None, 0):
        return False
    return devices.allows_others or (kind in (None, "CPU") and (index is None or index < devices.cpu_count))


def check_devices(operations, devices):
    """Raises InvalidArgumentError for an operation that is assigned to a device that there is not."""
    for op in operations:
        if op._device and not _is_here(op._device, devices):
            hint = ""
            if "GPU" in op._device.upper():
                hint = " The requested device appears to be a GPU, but CUDA is not enabled."
            raise errors.InvalidArgumentError(
                op.node_def,
                op,
                f"Cannot assign a device for operation {op.name}: {op.described} was explicitly assigned to "
                f"{op._device} but available devices are [ {', '.join(devices.names())} ]. Make sure the device "
                f"specification refers to a valid device.{hint}\n\t [[{op.name}]]",
            )

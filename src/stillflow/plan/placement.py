"""check_devices: a plan runs on the machine's processors, whatever number of CPU devices they are said to be."""

from __future__ import annotations

import functools
from typing import NamedTuple

from stillflow import errors
from stillflow.graph.device import DeviceSpec
from stillflow.graph.gpu_stand_ins import stands_in_for_gpu

LOCAL = ("localhost", 0)  # the job and task of a session without a server


class Devices(NamedTuple):
    """The devices of a session: how many CPUs of which tasks, and whether they stand for others, such as a GPU.

    Operations without a device are of the first task: in a cluster the first by name, whichever the session's own is.
    """

    cpu_count: int = 1
    allows_others: bool = False
    tasks: tuple[tuple[str, int], ...] = (LOCAL,)

    def names(self):
        return [self._name(task, index) for task in self.tasks for index in range(self.cpu_count)]

    def name_for(self, device):
        """The device that operations run on which are assigned to `device`, in full or in part."""
        index = DeviceSpec.from_string(device).device_index or 0
        return self._name(self.task_for(device) or self.tasks[0], index if index < self.cpu_count else 0)

    def task_for(self, device):
        """The task that the device, in full or in part, is of; None if it is of no task here."""
        job, replica, index, _, _ = DeviceSpec.from_string(device)
        if replica in (None, 0):
            for task in self.tasks:
                if job in (None, task[0]) and index in (None, task[1]):
                    return task
        return None

    def _name(self, task, index):
        return f"/job:{task[0]}/replica:0/task:{task[1]}/device:CPU:{index}"


ONE_CPU = Devices()


@functools.cache
def _is_here(device, devices):
    """Whether the device, in full or in part, is one of them."""
    _, _, _, kind, index = DeviceSpec.from_string(device)
    if devices.task_for(device) is None:
        return False
    return devices.allows_others or (kind in (None, "CPU") and (index is None or index < devices.cpu_count))


def check_devices(operations, devices):
    """Raises InvalidArgumentError for an operation that is assigned to a device that there is not."""
    for op in operations:
        if op._device and not _is_here(op._device, devices) and not stands_in_for_gpu(op):
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

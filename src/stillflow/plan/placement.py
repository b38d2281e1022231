"""check_devices: a plan runs on one device, so operations must not ask for another."""

from __future__ import annotations

import functools

from stillflow import errors
from stillflow.graph.device import DeviceSpec

DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


@functools.cache
def _is_here(device, allows_others):
    """Whether the device, in full or in part, is the one; `allows_others` of this process to stand for it."""
    job, replica, task, kind, index = DeviceSpec.from_string(device)
    if job not in (None, "localhost") or replica not in (None, 0) or task not in (None, 0):
        return False
    return allows_others or (kind in (None, "CPU") and index in (None, 0))


def check_devices(operations, allows_others):
    """Raises InvalidArgumentError for an operation that is assigned to a device that there is not.

    `allows_others`: whether devices of this process that there are not, such as a GPU, stand for the one there is.
    """
    for op in operations:
        if op._device and not _is_here(op._device, allows_others):
            hint = ""
            if "GPU" in op._device.upper():
                hint = " The requested device appears to be a GPU, but CUDA is not enabled."
            raise errors.InvalidArgumentError(
                op.node_def,
                op,
                f"Cannot assign a device for operation {op.name}: {op.described} was explicitly assigned to "
                f"{op._device} but available devices are [ {DEVICE} ]. Make sure the device specification refers to "
                f"a valid device.{hint}\n\t [[{op.name}]]",
            )

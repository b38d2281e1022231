"""Processors in place of GPUs: what `stillflow run` allows to programs that were written for a machine with one."""

from __future__ import annotations

from stillflow.graph.device import DeviceSpec

_notices = []  # what is called where a processor stands in for a GPU although no session said so


def stand_in_for_gpus(notice):
    """Lets processors stand in for GPUs in all sessions, whether they say `allow_soft_placement` or not.

    Args:
      notice: a function that is called with each operation to which that happens.
    """
    _notices.append(notice)


def stands_in_for_gpu(op):
    """Whether a processor may run an operation that is assigned to a GPU, with no session's leave."""
    if not _notices or DeviceSpec.from_string(op._device).device_type != "GPU":
        return False
    for notice in _notices:
        notice(op)
    return True

"""What tf.config says for the process: its devices, and what sessions do that are made without a ConfigProto."""

from __future__ import annotations

import dataclasses
import os
import threading
from typing import NamedTuple

from stillflow.graph.device import canonical_name
from stillflow.names import public


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that nodes can be assigned to."""

    name: str
    device_type: str


@public("python.client.session._DeviceAttributes")
@dataclasses.dataclass(frozen=True, repr=False)
class DeviceAttributes:
    """What a session says of a device: its name and type, bytes of memory, and a number that is its own."""

    name: str
    device_type: str
    memory_limit_bytes: int
    incarnation: int

    def __post_init__(self):
        object.__setattr__(self, "name", canonical_name(self.name))

    def __repr__(self):
        values = map(str, dataclasses.astuple(self))
        return f"_DeviceAttributes({', '.join(values)})"


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
LOGICAL_CPU = LogicalDevice("/job:localhost/replica:0/task:0/device:CPU:0", "CPU")
# As much memory as TensorFlow says a CPU has, whatever it has.
CPU_ATTRIBUTES = DeviceAttributes(*LOGICAL_CPU, memory_limit_bytes=256 << 20, incarnation=1)


def cpu_count():
    """How many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class ThreadSettings(threading.local):
    """What eager execution is told in a thread. One machine's CPU has nothing to copy or to wait for: it is kept."""

    device_policy = "silent"
    is_synchronous = True


class Settings:
    """What sessions do that are made without a ConfigProto."""

    def __init__(self):
        self.allows_soft_placement = False
        self.logs_device_placement = False
        self.intra_op_threads = 0  # 0: one for each processor
        self.inter_op_threads = 0
        self.cpu_count = 1  # as how many devices the CPU is seen
        self.jit = False
        self.optimizer_options: dict[str, bool | int] = {
            "disable_model_pruning": False,
            "disable_meta_optimizer": False,
        }
        self.of_thread = ThreadSettings()


settings = Settings()

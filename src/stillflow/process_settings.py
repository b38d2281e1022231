"""What tf.config says for the process: its devices, and what sessions do that are made without a ConfigProto."""

from __future__ import annotations

from typing import NamedTuple


class PhysicalDevice(NamedTuple):
    """A device of this machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device that nodes can be assigned to."""

    name: str
    device_type: str


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
LOGICAL_CPU = LogicalDevice("/job:localhost/replica:0/task:0/device:CPU:0", "CPU")


class Settings:
    """What sessions do that are made without a ConfigProto."""

    def __init__(self):
        self.allows_soft_placement = False
        self.intra_op_threads = 0  # 0: one for each processor
        self.inter_op_threads = 0


settings = Settings()

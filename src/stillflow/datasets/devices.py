"""Data sets whose elements lie on another device: here that of every device, the memory of the machine."""

from __future__ import annotations

from stillflow.datasets.node import UnaryUnchangedStructureDataset
from stillflow.graph.device_spec import DeviceSpec
from stillflow.names import public


class _OnDevice(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, target_device, source_device):
        self._target_device, self._source_device = target_device, source_device
        super().__init__(input_dataset, input_dataset._variant_tensor)


@public("data.experimental.copy_to_device", "contrib.data.copy_to_device")
def copy_to_device(target_device, source_device="/cpu:0"):
    """For Dataset.apply: the same elements on a device.

    Raises ValueError for names of no devices.
    """
    for device in (target_device, source_device):
        DeviceSpec.from_string(device)
    return lambda dataset: dataset._of(_OnDevice(dataset, target_device, source_device))


@public("data.experimental.prefetch_to_device", "contrib.data.prefetch_to_device")
def prefetch_to_device(device, buffer_size=None):
    """For Dataset.apply: the same elements on a device, of which some are made in advance.

    Args:
      device: the name of a device.
      buffer_size: how many are made in advance; left open if None.

    Raises ValueError for names of no devices.
    """
    return lambda dataset: dataset.apply(copy_to_device(device)).prefetch(buffer_size)

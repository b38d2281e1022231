"""What a session with log_device_placement prints: its devices, and on which of them each operation runs."""

from __future__ import annotations

import sys

from stillflow import errors
from stillflow.plan.placement import check_devices


class PlacementLog:
    """Prints as TensorFlow does, on standard output: the whole graph, whenever a run finds it grown."""

    def __init__(self, graph, devices):
        self._graph = graph
        self._devices = devices
        self._version = 0
        _write(["Device mapping: no known devices."])  # besides the CPU, which TensorFlow does not list

    def tell_of_new_nodes(self):
        if self._graph.version == self._version:
            return
        self._version = self._graph.version
        operations = self._graph.get_operations()
        try:
            check_devices(operations, self._devices)
        except errors.InvalidArgumentError:
            return  # nothing is placed then
        # TensorFlow places what only makes one value, such as constants, after its consumers.
        operations.sort(key=_is_generator)
        _write(f"{op.name}: ({op.type}): {self._devices.name_for(op._device)}" for op in operations)


def _is_generator(op):
    return not op.inputs and len(op.outputs) == 1 and not op.outputs[0].dtype._is_ref_dtype


def _write(lines):
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()

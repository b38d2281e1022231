"""Topology: where the processors of a mesh are, and which tasks they belong to."""

from __future__ import annotations

import numpy as np

from stillflow.formats import protobuf
from stillflow.names import public


@public("python.tpu.topology.Topology", "contrib.tpu.python.tpu.topology.Topology")
class Topology:
    """A mesh of processors of several tasks.

    Args:
      serialized: a TopologyProto message as bytes, in the place of the others.
      mesh_shape: the sizes of the mesh, three numbers.
      device_coordinates: [tasks, processors of each, 3]: where in the mesh each is.

    Raises ValueError for other shapes, and for a message that contradicts itself.
    """

    def __init__(self, serialized=None, mesh_shape=None, device_coordinates=None):
        self._serialized = serialized
        if serialized:
            self._mesh_shape, self._device_coordinates = _parsed(serialized)
        else:
            self._mesh_shape = np.asarray(mesh_shape, dtype=np.int32)
            self._device_coordinates = np.asarray(device_coordinates, np.int32)
            if len(self._mesh_shape) != 3 or any(self._mesh_shape < 1):
                raise ValueError(f"`mesh_shape` must be a sequence of 3 positive entries; got {self._mesh_shape}")
            if self._device_coordinates.ndim != 3 or self._device_coordinates.shape[2] != 3:
                raise ValueError(
                    "`device_coordinates` must be a rank 3 int32 array with minor dimension equal to the mesh shape "
                    "rank"
                )
        # The task at each place of the mesh, and which of its processors; -1 where there is none.
        self._tasks = np.full(self._mesh_shape, -1, np.int32)
        self._devices = np.full(self._mesh_shape, -1, np.int32)
        for task, device in np.ndindex(self._device_coordinates.shape[:2]):
            place = tuple(self._device_coordinates[task, device])
            self._tasks[place], self._devices[place] = task, device

    @property
    def mesh_shape(self):
        """The sizes of the mesh, an int32 array."""
        return self._mesh_shape

    @property
    def mesh_rank(self):
        """The number of these sizes."""
        return len(self._mesh_shape)

    @property
    def device_coordinates(self):
        """int32 [tasks, processors of each, 3]."""
        return self._device_coordinates

    @property
    def num_tasks(self):
        """The number of tasks."""
        return self._device_coordinates.shape[0]

    @property
    def num_tpus_per_task(self):
        """The number of processors of each task."""
        return self._device_coordinates.shape[1]

    def task_ordinal_at_coordinates(self, device_coordinates):
        """The task at a place of the mesh; -1 if there is none."""
        return self._tasks[tuple(device_coordinates)]

    def tpu_device_ordinal_at_coordinates(self, device_coordinates):
        """Which processor of its task is at a place of the mesh; -1 if there is none."""
        return self._devices[tuple(device_coordinates)]

    def cpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The name of the CPU of the task at a place of the mesh."""
        return f"{_job(job)}/task:{self.task_ordinal_at_coordinates(device_coordinates)}/device:CPU:0"

    def tpu_device_name_at_coordinates(self, device_coordinates, job=None):
        """The name of the processor at a place of the mesh."""
        task = self.task_ordinal_at_coordinates(device_coordinates)
        device = self.tpu_device_ordinal_at_coordinates(device_coordinates)
        return f"{_job(job)}/task:{task}/device:TPU:{device}"

    def serialized(self):
        """The TopologyProto message as bytes."""
        if self._serialized is None:
            self._serialized = protobuf.message("TopologyProto")(
                mesh_shape=self._mesh_shape.tolist(), num_tasks=self.num_tasks,
                num_tpu_devices_per_task=self.num_tpus_per_task,
                device_coordinates=self._device_coordinates.ravel().tolist(),
            ).SerializeToString()  # fmt: skip
        return self._serialized


def _job(job):
    return "" if job is None else f"/job:{job}"


def _parsed(serialized):
    """(mesh shape, coordinates) of a message."""
    proto = protobuf.message("TopologyProto").FromString(serialized)
    mesh_shape = np.array(proto.mesh_shape, np.int32)
    if len(mesh_shape) != 3 or any(mesh_shape < 1):
        raise ValueError(f"`mesh_shape` must be a vector of size 3 with positive entries; got {mesh_shape}")
    for name in ("num_tasks", "num_tpu_devices_per_task"):
        if getattr(proto, name) < 0:
            raise ValueError(f"`{name}` must be >= 0; got {getattr(proto, name)}")
    shape = proto.num_tasks, proto.num_tpu_devices_per_task, len(mesh_shape)
    coordinates = np.array(proto.device_coordinates, np.int32)
    if coordinates.size != np.prod(shape):
        raise ValueError(
            f"`device_coordinates` must have shape num_tasks ({shape[0]}) * num_tpu_devices_per_task ({shape[1]}) * "
            f"len(mesh_shape) ({shape[2]}); got shape {coordinates.size}"
        )
    if any(coordinates < 0):
        raise ValueError("`device_coordinates` must be >= 0")
    return mesh_shape, coordinates.reshape(shape)

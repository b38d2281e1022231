"""Topology of tensorflow.python.tpu: places, names and its message."""

import numpy as np
import pytest
from stillflow.python.tpu.topology import Topology

from stillflow.formats import protobuf

COORDINATES = [[[0, 0, 0], [0, 0, 1]], [[0, 1, 0], [0, 1, 1]]]


def test_places_have_tasks_and_names():
    topology = Topology(mesh_shape=[1, 3, 2], device_coordinates=COORDINATES)
    assert (topology.mesh_rank, topology.num_tasks, topology.num_tpus_per_task) == (3, 2, 2)
    assert topology.task_ordinal_at_coordinates([0, 1, 0]) == 1
    assert topology.tpu_device_ordinal_at_coordinates([0, 1, 1]) == 1
    assert topology.task_ordinal_at_coordinates([0, 2, 0]) == -1
    assert topology.tpu_device_name_at_coordinates([0, 1, 1], job="w") == "/job:w/task:1/device:TPU:1"
    assert topology.cpu_device_name_at_coordinates([0, 0, 1]) == "/task:0/device:CPU:0"


def test_the_message_holds_all():
    data = Topology(mesh_shape=[1, 3, 2], device_coordinates=COORDINATES).serialized()
    assert data.hex() == "0a0301030210021802220c000000000001000100000101"  # of TensorFlow
    again = Topology(serialized=data)
    np.testing.assert_array_equal(again.device_coordinates, COORDINATES)
    assert again.mesh_shape.tolist() == [1, 3, 2]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mesh_shape": [1, 2], "device_coordinates": COORDINATES}, "sequence of 3 positive entries"),
        ({"mesh_shape": [1, 2, 2], "device_coordinates": [[0, 0, 0]]}, "rank 3 int32 array"),
    ],
)
def test_bad_shapes(arguments, message):
    with pytest.raises(ValueError, match=message):
        Topology(**arguments)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"mesh_shape": [1]}, "vector of size 3"),
        ({"mesh_shape": [1, 1, 1], "num_tasks": -1}, "`num_tasks` must be >= 0"),
        ({"mesh_shape": [1, 1, 1], "num_tasks": 1, "num_tpu_devices_per_task": 1}, "got shape 0"),
    ],
)
def test_bad_messages(fields, message):
    with pytest.raises(ValueError, match=message):
        Topology(serialized=protobuf.message("TopologyProto")(**fields).SerializeToString())

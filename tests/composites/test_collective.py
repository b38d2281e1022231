"""Sums and kin over the devices of towers, by the names that programs call NVIDIA's NCCL with."""

import numpy as np
import pytest
from stillflow.python.ops import nccl_ops

import stillflow as tf


@pytest.fixture
def towers():
    """Three tensors, each on a device of its own, and a session with such devices."""
    tensors = []
    for i in range(3):
        with tf.device(f"/cpu:{i}"):
            tensors.append(tf.constant([i + 1.0, -2.0 * i], name=f"tower{i}"))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 3})) as session:
        yield tensors, session


@pytest.mark.parametrize(
    ("name", "expected"),
    [("all_sum", [6.0, -6.0]), ("all_prod", [6.0, 0.0]), ("all_min", [1.0, -4.0]), ("all_max", [3.0, 0.0])],
)
def test_every_tower_gets_the_same(towers, name, expected):
    tensors, session = towers
    results = getattr(nccl_ops, name)(tensors)
    assert [result.device for result in results] == [tensor.device for tensor in tensors]
    np.testing.assert_array_equal(session.run(results), [expected] * 3)


def test_gradients_flow_to_every_tower(towers):
    tensors, session = towers
    results = tf.contrib.nccl.all_sum(tensors)
    loss = sum(tf.reduce_sum(result * (i + 1)) for i, result in enumerate(results))
    np.testing.assert_array_equal(session.run(tf.gradients(loss, tensors)), [[6.0, 6.0]] * 3)


def test_one_device_gets_the_sum_or_gives_its_tensor(towers):
    tensors, session = towers
    with tf.device("/cpu:1"):
        total = nccl_ops.reduce_sum(tensors)
    assert session.run([total, nccl_ops.broadcast(tensors[1])])[0].tolist() == [6.0, -6.0]
    with pytest.raises(ValueError, match="One input tensor must be assigned to current device"):
        nccl_ops.reduce_sum(tensors)


def test_devices_have_to_be_assigned(towers):
    with pytest.raises(ValueError, match="Device assignment required"):
        nccl_ops.all_sum([tf.constant(1.0)])
    for function in (nccl_ops.all_sum, nccl_ops.reduce_sum):
        with pytest.raises(ValueError, match="Must pass >0 tensors"):
            function([])

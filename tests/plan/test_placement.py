"""Devices that there are not: refused, or stood in for."""

import pytest

import stillflow as tf


def run(device, allows_others=False):
    with tf.Graph().as_default():
        with tf.device(device):
            x = tf.Variable(1.0, name="x") + 2.0
        config = tf.ConfigProto(allow_soft_placement=allows_others)
        with tf.Session(config=config) as session:
            session.run(tf.global_variables_initializer())
            return session.run(x)


@pytest.mark.parametrize(
    "device", ["", "/cpu:0", "/device:CPU:0", "/job:localhost", "/job:localhost/replica:0/task:0"]
)
def test_the_device_of_this_process_is_there(device):
    assert run(device) == run(device, allows_others=True) == 3


@pytest.mark.parametrize("device", ["/gpu:0", "/cpu:1", "/device:TPU:0", "/device:GPU:3"])
def test_other_devices_are_refused_unless_they_may_be_stood_in_for(device):
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device for operation x"):
        run(device)
    assert run(device, allows_others=True) == 3


@pytest.mark.parametrize("device", ["/job:ps/task:0", "/job:worker", "/replica:1", "/task:1"])
def test_other_processes_are_refused(device):
    for allows_others in (False, True):
        with pytest.raises(tf.errors.InvalidArgumentError, match="available devices are"):
            run(device, allows_others)


def test_only_what_runs_is_looked_at():
    with tf.Graph().as_default(), tf.Session() as session:
        with tf.device("/gpu:0"):
            y = tf.constant(3.0)
        assert session.run(tf.constant(2.0)) == 2
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="The requested device appears to be a GPU"
        ) as caught:
            session.run(y)
        assert caught.value.op is y.op
        assert f"Const: node Const (defined at {__file__}:" in caught.value.message
        assert caught.value.message.endswith("but CUDA is not enabled.\n\t [[Const]]")
        assert session.run(y * 1.0, {y: 4.0}) == 4
        handle = session.partial_run_setup([y], [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.partial_run(handle, [y])

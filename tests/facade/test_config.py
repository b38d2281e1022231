"""tf.config: devices, and defaults of sessions."""

import pytest

import stillflow as tf
from stillflow.session import process_settings


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    found = process_settings.Settings()
    for name, value in vars(found).items():
        monkeypatch.setattr(process_settings.settings, name, value)


def test_there_is_one_cpu():
    (cpu,) = tf.config.experimental.list_physical_devices()
    assert repr(cpu) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.experimental.list_physical_devices("CPU") == [cpu]
    assert tf.config.experimental.list_physical_devices("GPU") == []
    assert tf.config.experimental.get_visible_devices() == [cpu]
    (logical,) = tf.config.experimental.list_logical_devices("CPU")
    assert tf.config.experimental_list_devices() == [logical.name]
    with tf.Session() as session, tf.device(logical.name):
        assert session.run(tf.constant(3)) == 3


def test_a_session_tells_its_devices():
    with tf.Session() as session:
        (device,) = session.list_devices()
    assert device.name == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert device.device_type == "CPU"
    assert device.memory_limit_bytes > 0
    assert isinstance(device.incarnation, int)


def test_devices_that_there_are_not():
    experimental = tf.config.experimental
    (cpu,) = experimental.list_physical_devices()
    experimental.set_visible_devices([], "GPU")
    experimental.set_visible_devices(cpu)
    with pytest.raises(ValueError, match="Unrecognized device: 3"):
        experimental.set_visible_devices(3)
    with pytest.raises(ValueError, match="Unrecognized device"):
        experimental.set_visible_devices([cpu], "GPU")
    with pytest.raises(ValueError, match="only device"):
        experimental.set_visible_devices([], "CPU")
    with pytest.raises(ValueError, match="Cannot set memory growth on non-GPU devices"):
        experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        experimental.set_memory_growth("gpu", True)
    with pytest.raises(KeyError):
        experimental.get_memory_growth(cpu)


def test_soft_placement_is_what_sessions_do():
    with tf.device("/gpu:0"):
        x = tf.constant(3)
    assert not tf.config.get_soft_device_placement()
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(x)
    tf.config.set_soft_device_placement(True)
    assert tf.config.get_soft_device_placement()
    with tf.Session() as session:
        assert session.run(x) == 3
    with tf.Session(config=tf.ConfigProto()) as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(x)


def test_threads_are_those_of_sessions():
    threading = tf.config.threading
    assert threading.get_intra_op_parallelism_threads() == threading.get_inter_op_parallelism_threads() == 0
    threading.set_intra_op_parallelism_threads(3)
    threading.set_inter_op_parallelism_threads(2)
    assert threading.get_intra_op_parallelism_threads() == 3
    assert threading.get_inter_op_parallelism_threads() == 2
    with tf.Session() as session:
        assert session.run(tf.constant(1) + 1) == 2
    with pytest.raises(ValueError, match="negative"):
        threading.set_intra_op_parallelism_threads(-1)

"""tf.config: devices, and defaults of sessions."""

from concurrent.futures import ThreadPoolExecutor

import pytest

import stillflow as tf
from stillflow.session import config, process_settings


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


def test_the_cpu_is_seen_as_several_devices(monkeypatch):
    experimental = tf.config.experimental
    (cpu,) = experimental.list_physical_devices()
    monkeypatch.setattr(config, "_virtual_devices", config._VirtualDevices())
    assert experimental.get_virtual_device_configuration(cpu) is None
    configuration = experimental.VirtualDeviceConfiguration
    with pytest.raises(ValueError, match="Setting memory limit on CPU virtual devices is currently not supported"):
        experimental.set_virtual_device_configuration(cpu, [configuration(memory_limit=3)])
    two = [configuration(), configuration()]
    experimental.set_virtual_device_configuration(cpu, two)
    assert experimental.get_virtual_device_configuration(cpu) == two
    assert [device.name[-5:] for device in experimental.list_logical_devices()] == ["CPU:0", "CPU:1"]
    experimental.set_virtual_device_configuration(cpu, two)
    with pytest.raises(RuntimeError, match="Virtual devices cannot be modified after being initialized"):
        experimental.set_virtual_device_configuration(cpu, [configuration()])
    with tf.Session() as session, tf.device("/cpu:1"):
        assert session.run(tf.constant(3)) == 3
        assert len(session.list_devices()) == 2


def test_what_a_thread_says_of_eager_execution():
    experimental = tf.config.experimental
    assert experimental.get_device_policy() == "silent"
    experimental.set_device_policy("explicit")
    assert experimental.get_device_policy() == "explicit"
    with ThreadPoolExecutor() as pool:
        assert pool.submit(experimental.get_device_policy).result() == "silent"
    experimental.set_device_policy(None)
    assert experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Not a valid device policy: 'x'"):
        experimental.set_device_policy("x")
    assert experimental.get_synchronous_execution()
    experimental.set_synchronous_execution(False)
    assert not experimental.get_synchronous_execution()
    experimental.set_synchronous_execution(None)
    assert experimental.get_synchronous_execution()


def test_options_of_the_optimizer_are_kept():
    optimizer = tf.config.optimizer
    assert not optimizer.get_jit()
    optimizer.set_jit(True)
    assert optimizer.get_jit()
    before = {"disable_model_pruning": False, "disable_meta_optimizer": False}
    assert optimizer.get_experimental_options() == before
    optimizer.set_experimental_options({"min_graph_nodes": -1, "constant_folding": 3, "none_such": True})
    options = optimizer.get_experimental_options()
    assert list(options) == ["constant_folding", *before, "min_graph_nodes"]
    assert options["constant_folding"] is True
    assert options["min_graph_nodes"] == -1


def test_sessions_log_placement_if_the_process_says_so(capsys):
    assert not tf.debugging.get_log_device_placement()
    tf.debugging.set_log_device_placement(True)
    assert tf.debugging.get_log_device_placement()
    with tf.Session() as session:
        session.run(tf.constant(1, name="one"))
    assert "one: (Const): /job:localhost/replica:0/task:0/device:CPU:0\n" in capsys.readouterr().out

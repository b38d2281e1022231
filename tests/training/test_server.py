"""tf.train.Server: its sessions share variables, as those of TensorFlow's servers do."""

import threading
import time

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import servers


def local_server():
    return tf.train.Server.create_local_server()


def test_a_server_says_what_it_is():
    config = tf.ConfigProto(allow_soft_placement=True)
    server = tf.train.Server({"worker": ["localhost:0"]}, config=config)
    assert server.target.startswith("grpc://localhost:")
    definition = server.server_def
    assert (definition.job_name, definition.task_index, definition.protocol) == ("worker", 0, "grpc")
    assert definition.default_session_config == config
    with tf.Session(server.target) as session:
        (device,) = session.list_devices()
        assert device.name == "/job:worker/replica:0/task:0/device:CPU:0"
        assert session.sess_str == tf.compat.as_bytes(server.target)
        with tf.device("/gpu:0"):  # what the server's configuration allows
            assert session.run(tf.constant(3)) == 3


@pytest.mark.parametrize(
    ("arguments", "kind", "message"),
    [
        ((3,), TypeError, "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or"),
        (({"a": ["localhost:0"]}, "b"), ValueError, "No such job in cluster: 'b'"),
        (({"a": ["localhost:0"], "b": ["localhost:0"]},), ValueError, "Must specify an explicit `job_name`."),
        (({"a": ["localhost:0", "localhost:1"]},), ValueError, "Must specify an explicit `task_index`."),
        (({"a": ["localhost:0"]}, "a", 3), tf.errors.InvalidArgumentError, 'Task 3 was not defined in job "a"'),
        (({"a": ["localhost"]},), tf.errors.InvalidArgumentError, 'Could not parse port for local server from "l'),
        (({"a": ["localhost:x"]},), tf.errors.InvalidArgumentError, "Could not parse port for local server"),
        (({"a": ["h:0"]}, None, None, "x"), tf.errors.NotFoundError, "No server factory registered for the given"),
    ],
)
def test_definitions_that_are_refused(arguments, kind, message):
    with pytest.raises(kind, match=message):
        tf.train.Server(*arguments)


def test_a_port_has_one_server():
    port = local_server().target.rpartition(":")[2]
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server({"a": ["localhost:" + port]})


def test_variables_and_shared_queues_outlive_a_session():
    target = local_server().target
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.get_variable("r", initializer=3.0, use_resource=True)
    shared = tf.FIFOQueue(3, tf.int32, shared_name="shared")
    private = tf.FIFOQueue(3, tf.int32)
    noise = tf.random_normal([], seed=3)
    with tf.Session(target) as first:
        first.run(tf.global_variables_initializer())
        first.run([shared.enqueue(5), private.enqueue(5), v[0].assign(7)])
        drawn = first.run(noise)
    with tf.Session(target) as second:
        values = second.run([v, r, shared.size(), private.size(), noise])
    np.testing.assert_array_equal(values[0], [7, 2])
    assert values[1:] == [3, 1, 0, drawn]
    with tf.Session() as other, pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        other.run(v)
    with tf.Session(local_server().target) as other, pytest.raises(tf.errors.FailedPreconditionError):
        other.run(v)


def test_other_graphs_find_variables_by_name():
    target = local_server().target
    v = tf.Variable([1.0, 2.0], name="v")
    with tf.Session(target) as session:
        session.run(v.initializer)
    with tf.Graph().as_default(), tf.Session(target) as session:
        longer = tf.Variable([1.0, 2.0, 3.0], name="v")
        assert session.run(longer).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[2\] rhs shape= \[3\]"):
            session.run(longer.initializer)
    with tf.Graph().as_default(), tf.Session(target) as session:
        integers = tf.Variable([1, 2], name="v")
        with pytest.raises(tf.errors.InternalError, match="another type in another session"):
            session.run(integers.initializer)


def test_reset_clears_the_containers():
    target = local_server().target
    v = tf.Variable(1.0)
    with tf.container("c"):
        w = tf.Variable(2.0)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
    tf.Session.reset(target, ["c"])
    with tf.Session(target) as session:
        assert session.run(v) == 1
        assert session.run(tf.is_variable_initialized(w)) == 0
    tf.Session.reset(target)
    with tf.Session(target) as session:
        assert session.run(tf.is_variable_initialized(v)) == 0


def test_threads_share_a_server():
    target = local_server().target
    count = tf.Variable(0)
    step = tf.assign_add(count, 1, use_locking=True)
    with tf.Session(target) as session:
        session.run(count.initializer)

    def work():
        with tf.Session(target, graph=count.graph) as session:
            for _ in range(50):
                session.run(step)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with tf.Session(target) as session:
        assert session.run(count) == 200


def test_closing_a_session_wakes_its_runs_alone():
    target = local_server().target
    queue = tf.FIFOQueue(3, tf.int32, shared_name="q")
    taken = queue.dequeue()
    patient, hasty = tf.Session(target), tf.Session(target)
    outcomes = {}

    def wait(name, session):
        try:
            outcomes[name] = session.run(taken)
        except tf.errors.CancelledError:
            outcomes[name] = "cancelled"

    threads = [threading.Thread(target=wait, args=pair) for pair in (("patient", patient), ("hasty", hasty))]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    hasty.close()
    threads[1].join()
    with tf.Session(target) as session:
        session.run(queue.enqueue(7))
    threads[0].join()
    assert outcomes == {"patient": 7, "hasty": "cancelled"}


def cluster(workers=2):
    """Servers of one cluster, by (job, index)."""
    workers, servers_of = tf.test.create_local_cluster(workers, 1)
    return {("worker", i): server for i, server in enumerate(workers)} | {("ps", 0): servers_of[0]}


def test_tasks_of_a_cluster_have_variables_of_their_own():
    tasks = cluster()
    graphs = {}
    for task in ("/job:ps/task:0", "/job:worker/task:0", "/job:worker/task:1"):
        with tf.Graph().as_default() as graphs[task], tf.device(task):
            tf.get_variable("v", initializer=tf.placeholder_with_default(task, []))
            tf.global_variables_initializer()
    for (job, index), task in zip([("worker", 0), ("worker", 1), ("ps", 0)], graphs, strict=True):
        with tf.Session(tasks[job, index].target, graph=graphs[task]) as session:
            session.run("init")
    for server in tasks.values():
        for task, graph in graphs.items():
            with tf.Session(server.target, graph=graph) as session:
                assert session.run("v:0") == task.encode()


def test_what_has_no_device_is_of_the_first_task():
    """As in TensorFlow: the first by name, whichever task a session is of."""
    tasks = cluster()
    shared = tf.Variable(2.0, name="shared")
    with tf.device("/job:worker/task:5"):
        nowhere = tf.constant(1)
    with tf.Session(tasks["worker", 0].target) as session:
        names = [device.name for device in session.list_devices()]
        assert names == [f"/job:{task}/device:CPU:0" for task in
                         ("ps/replica:0/task:0", "worker/replica:0/task:0", "worker/replica:0/task:1")]  # fmt: skip
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot assign a device"):
            session.run(nowhere)
    with tf.Session(tasks["worker", 1].target) as session:
        assert session.run(shared) == 2


def test_tasks_of_other_processes_are_not_reached(monkeypatch):
    monkeypatch.setattr(servers, "_PATIENCE_SECONDS", 0.05)
    server = tf.train.Server({"worker": ["localhost:0"], "ps": ["localhost:1"]}, "worker", 0)
    with pytest.raises(tf.errors.UnimplementedError, match="not: /job:ps/task:0 at localhost:1"):
        tf.Session(server.target)
    with tf.Session(server.target, config=tf.ConfigProto(device_filters=["/job:worker"])) as session:
        assert session.run(tf.constant(3)) == 3
    with pytest.raises(tf.errors.UnimplementedError, match="No server of this process is at grpc://localhost:1, "):
        tf.Session("grpc://localhost:1")


def test_a_session_waits_for_servers_that_start_late():
    early = tf.train.Server({"local": ["localhost:0"]}, start=False)
    with pytest.raises(tf.errors.UnimplementedError):
        tf.Session(early.target)
    timer = threading.Timer(0.1, early.start)
    port = early.target.rpartition(":")[2]
    other = tf.train.Server({"a": ["localhost:0"], "b": ["localhost:" + port]}, "a", 0)
    timer.start()
    with tf.Session(other.target) as session:
        assert len(session.list_devices()) == 2

"""Sessions: fetches, feeds, errors, threads, interruption, life cycle."""

import collections
import gc
import os
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stillflow as tf
from stillflow import _engine, ops
from stillflow.graph import scopes


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


# ---- Fetches ------------------------------------------------------------------------------------------------


def test_nested_fetches_keep_their_structure(session):
    x, y = tf.constant(1.0), tf.constant([2, 3])
    pair = collections.namedtuple("Pair", ["a", "b"])
    op = tf.no_op()
    result = session.run({"list": [x, (y, op)], "pair": pair(x, "Const_1:0"), "again": x})
    assert result["list"][0] == 1 and result["list"][1][1] is None
    np.testing.assert_array_equal(result["list"][1][0], [2, 3])
    assert isinstance(result["pair"], pair) and isinstance(result["list"][1], tuple)
    assert result["again"] == 1
    assert session.run([]) == []
    assert session.run(op) is None


def test_scalars_come_as_numpy_scalars_and_strings_as_bytes(session):
    assert isinstance(session.run(tf.constant(1.5)), np.float32)
    assert session.run(tf.constant("text")) == b"text"
    strings = session.run(tf.constant([["a"], ["b\x00c"]]))
    assert strings.dtype == object and strings.tolist() == [[b"a"], [b"b\x00c"]]


@pytest.mark.parametrize("fetch", [None, [None], 5, np.zeros(2), {"a": None}])
def test_fetching_what_is_no_tensor_is_a_type_error(session, fetch):
    tf.constant(1.0)
    with pytest.raises(TypeError, match="Fetch argument"):
        session.run(fetch)


def test_fetching_an_unknown_name_is_a_value_error(session):
    tf.constant(1.0)
    with pytest.raises(ValueError, match="'x:0' cannot be interpreted as a Tensor"):
        session.run("x:0")
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    with pytest.raises(ValueError, match="is not an element of this graph"):
        session.run(foreign)


def test_fetched_arrays_belong_to_the_caller(session):
    w = tf.Variable(tf.zeros([2000]))
    c = tf.constant(np.ones(3000, np.float32))
    session.run(w.initializer)
    for tensor in (w, c, tf.identity(w)):
        array = session.run(tensor)
        array[:] = 7
        assert not np.any(session.run(tensor) == 7)
    before = session.run(w)
    session.run(tf.assign_add(w, tf.ones([2000])))
    assert np.all(before == 0) and np.all(session.run(w) == 1)


def test_a_fed_tensor_that_is_fetched_is_a_copy(session):
    x = tf.placeholder(tf.float32, [5000])
    fed = np.zeros(5000, np.float32)
    for fetch in (x, tf.reshape(x, [50, 100])):
        fetched = session.run(fetch, {x: fed})
        fetched += 1
        assert np.all(fed == 0)


def test_a_fed_scalar_that_is_fetched_is_an_array(session):
    x, s = tf.placeholder(tf.float32), tf.placeholder(tf.string)
    w = tf.Variable(3.0)
    for fetched in (
        session.run(x, {x: 2}),
        session.run([x, x + 1], {x: 2})[0],
        session.run(w, {w: 2.0}),
        session.make_callable(x, [x])(2),
        session.run(x, {x: 2}, run_metadata=tf.RunMetadata()),
        session.run(x, {x: 2}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()),
    ):
        assert type(fetched) is np.ndarray and fetched.shape == () and fetched.dtype == np.float32 and fetched == 2
    assert type(session.run([x, x + 1], {x: 2})[1]) is np.float32
    fed, computed = session.run([s, tf.identity(s)], {s: "text"})
    assert fed.dtype == object and fed.item() == "text" and computed == b"text"


# ---- Feeds --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]],
        ((1.0, 2.0), (3.0, 4.0)),
        np.array([[1, 2], [3, 4]], np.int64),
        np.array([[1, 3], [2, 4]], np.float32).T,
        np.array([[1, 2], [3, 4]], ">f4"),
        np.array([[1, 0, 2], [3, 0, 4]], np.float64)[:, ::2],
        np.array([[1, 2], [3, 4]], np.float16),
    ],
)
def test_any_array_like_can_be_fed(session, value):
    x = tf.placeholder(tf.float32, [None, 2])
    np.testing.assert_array_equal(session.run(x * 2.0, {x: value}), [[2, 4], [6, 8]])


def test_feeding_follows_tensorflow(session):
    x, i, s, u = (tf.placeholder(dtype) for dtype in (tf.float32, tf.int32, tf.string, tf.uint8))
    assert np.isnan(session.run(x, {x: None}))
    assert session.run(i, {i: np.array(2.9)}) == 2
    assert session.run(tf.identity(s), {s: ["a", b"b"]}).tolist() == [b"a", b"b"]
    for tensor, value in ((i, 2**40), (u, 300), (u, -1), (s, 5)):
        with pytest.raises(TypeError, match="is not compatible with Tensor type"):
            session.run(tensor, {tensor: value})
    with pytest.raises(ValueError, match="could not convert string to float"):
        session.run(x, {x: "abc"})
    with pytest.raises(ValueError, match="inhomogeneous"):
        session.run(x, {x: [[1, 2], [3]]})
    with pytest.raises(TypeError, match="The value of a feed cannot be a tf"):
        session.run(x, {x: tf.constant(1.0)})


def test_feed_keys_are_checked(session):
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with pytest.raises(ValueError, match=r"Cannot feed value of shape \(2, 4\) for Tensor 'x:0', which has shape"):
        session.run(x, {x: np.zeros((2, 4))})
    for key in ("nope:0", "x", 5, x.op):
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key as Tensor"):
            session.run(x, {key: 1})
    with pytest.raises(TypeError, match="feed_dict must be a dictionary"):
        session.run(x, [1])
    np.testing.assert_array_equal(session.run(x, {"x:0": np.ones((1, 3))}), np.ones((1, 3)))


def test_constants_and_intermediate_tensors_can_be_fed(session):
    c = tf.constant(2.0)
    y = c * 3.0
    z = y + 1.0
    assert session.run(z, {c: 5.0}) == 16
    assert session.run(z, {y: 5.0}) == 6
    assert session.run(z) == 7
    assert session.run([c, z], {c: 1.0}) == [1, 4]


def test_a_placeholder_that_is_not_fed_is_named(session):
    p = tf.placeholder(tf.float32, [None, 3], name="p")
    q = tf.placeholder(tf.int32, name="q")
    message = r"You must feed a value for placeholder tensor 'p' with dtype float and shape \[\?,3\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(p)
    with pytest.raises(tf.errors.InvalidArgumentError, match="tensor 'q' with dtype int32\n"):
        session.run(q)


def test_changing_a_fed_array_later_changes_nothing(session):
    x = tf.placeholder(tf.float32, [2000])
    w = tf.Variable(tf.zeros([2000]))
    session.run(w.initializer)
    fed = np.ones(2000, np.float32)
    session.run(tf.assign(w, x), {x: fed})
    fed[:] = 9
    assert np.all(session.run(w) == 1)


def test_many_shapes_of_feeds(session):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(x * 2.0, 0)
    for rows in range(8):
        for columns in (1, 3):
            np.testing.assert_array_equal(session.run(y, {x: np.ones((rows, columns))}), np.full(columns, 2 * rows))


# ---- Variables ----------------------------------------------------------------------------------------------


def test_an_uninitialized_variable_is_named(session):
    w = tf.Variable(1.0, name="w")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Attempting to use uninitialized value w") as caught:
        session.run(w + 1.0)
    assert caught.value.op.name == "w/read"
    assert "test_session.py" in str(caught.value)


def test_assigning_another_shape_is_refused(session):
    w = tf.Variable([1.0, 2.0], name="w")
    x = tf.placeholder(tf.float32)
    session.run(w.initializer)
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        tf.assign(w, [1.0, 2.0, 3.0])
    message = r"Assign requires shapes of both tensors to match. lhs shape= \[2\] rhs shape= \[3\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.assign(w, x), {x: [1, 2, 3]})
    free = tf.Variable([1.0], validate_shape=False)
    session.run(free.initializer)
    assert session.run(tf.assign(free, x, validate_shape=False), {x: [1, 2, 3]}).shape == (3,)


def test_sessions_have_variables_of_their_own(new_graph):
    w = tf.Variable(1.0)
    with tf.Session() as one, tf.Session() as other:
        one.run(w.initializer)
        other.run(w.initializer)
        one.run(tf.assign_add(w, 1.0))
        assert one.run(w) == 2 and other.run(w) == 1


def test_a_fetched_variable_is_read_after_the_updates(session):
    w = tf.Variable(1.0)
    session.run(w.initializer)
    before = w.value()
    update = tf.assign_add(w, 10.0).op
    assert session.run([update, before, w]) == [None, 1, 11]


def test_control_dependencies_order_reads_and_writes(session):
    w = tf.Variable(0.0)
    session.run(w.initializer)
    update = tf.assign(w, 5.0)
    with tf.control_dependencies([update]):
        after = w.read_value()
    assert session.run(after) == 5


# ---- Life cycle ---------------------------------------------------------------------------------------------


def test_life_cycle_errors(new_graph):
    with pytest.raises(RuntimeError, match="The Session graph is empty"):
        tf.Session().run([])
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match=r"Cannot evaluate tensor using `eval\(\)`: No default session"):
        x.eval()
    with pytest.raises(ValueError, match=r"Cannot execute operation using `run\(\)`: No default session"):
        x.op.run()
    session = tf.Session()
    with session:
        assert x.eval() == 1
        with pytest.raises(RuntimeError, match="Session context managers are not re-entrant"), session:
            pass
    with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
        session.run(x)
    session.close()
    with tf.Graph().as_default(), tf.Session(), pytest.raises(ValueError, match="the tensor's graph is different"):
        x.eval()


def test_arguments_of_a_session_are_checked():
    for name, kind in (("target", "string"), ("graph", "tf.Graph"), ("config", "tf.ConfigProto")):
        with pytest.raises(TypeError, match=f"{name} must be a {kind}"):
            tf.Session(**{name: 5})
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("grpc2://nowhere")


def test_an_interactive_session_is_the_default_until_it_is_closed():
    x = tf.constant(3.0)
    session = tf.InteractiveSession()
    assert x.eval() == 3
    session.close()
    assert tf.get_default_session() is None


def test_sessions_left_in_the_wrong_order_are_noticed():
    one, other = tf.Session().as_default(), tf.Session().as_default()
    one.__enter__()
    other.__enter__()
    with pytest.raises(AssertionError, match="Nesting violated"):
        one.__exit__(None, None, None)
    scopes.sessions.stack.clear()


def test_a_failed_run_leaves_the_session_usable(session):
    x = tf.placeholder(tf.int32)
    y = tf.constant(6) // x
    with pytest.raises(tf.errors.InvalidArgumentError, match="Integer division by zero") as caught:
        session.run(y, {x: 0})
    assert caught.value.op is y.op and caught.value.error_code == tf.errors.INVALID_ARGUMENT
    assert session.run(y, {x: 3}) == 2


def test_memory_is_returned(session):
    x = tf.placeholder(tf.float32, [None])
    w = tf.Variable(tf.zeros([1000]))
    session.run(w.initializer)
    step = tf.assign_add(w, x * 2.0)
    for _ in range(3):
        session.run(step, {x: np.ones(1000)})
    gc.collect()
    used, _ = _engine.allocator_statistics()
    for _ in range(200):
        session.run(step, {x: np.ones(1000)})
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(step, {x: np.ones(999)})
    gc.collect()
    assert _engine.allocator_statistics()[0] <= used + 4096


SIZES_IN_TURN = """
import stillflow as tf
from stillflow import _engine

def run_steps(mebibytes, steps):
    x = tf.placeholder(tf.float32, [])
    step = tf.fill([mebibytes << 18], x)
    for _ in range(steps):
        session.run(step.op, {x: 1.0})

with tf.Session() as session:
    run_steps(220, 1)
    before = _engine.allocator_statistics()[1]
    run_steps(300, 4)
    after = _engine.allocator_statistics()[1]
print(before >> 20, after >> 20)
"""


@pytest.mark.release  # under AddressSanitizer no block is kept
def test_memory_of_sizes_that_are_no_longer_used_makes_room():
    run = subprocess.run([sys.executable, "-c", SIZES_IN_TURN], capture_output=True, text=True, check=True)
    before, after = map(int, run.stdout.split())
    assert 220 <= before <= 256
    assert 300 <= after <= 400  # a block of the later size, and none of the earlier


# ---- Threads and interruption -------------------------------------------------------------------------------


def test_threads_share_a_session_and_lose_no_update(session):
    w = tf.Variable(0.0)
    session.run(w.initializer)
    add = tf.assign_add(w, 1.0, use_locking=True)
    x = tf.placeholder(tf.float32, [None])
    total = tf.reduce_sum(x)
    failures = []

    def work(number):
        for i in range(200):
            session.run(add.op)
            if session.run(total, {x: np.full(number + 1, i)}) != i * (number + 1):
                failures.append((number, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert session.run(w) == 1600


LONG_RUN = """
import sys
import stillflow as tf
x = tf.placeholder(tf.float32, [])
y = tf.zeros([32000000]) + x
for _ in range(500):
    y = y * 1.0000001 + tf.reduce_max(y)
print("ready", flush=True)
"""


@pytest.mark.release
def test_ctrl_c_stops_a_long_run():
    program = LONG_RUN + "tf.Session().run(y, {x: 1})\n"
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in stderr


def test_a_timeout_ends_a_long_run():
    program = LONG_RUN + (
        "config = tf.ConfigProto(operation_timeout_in_ms=300)\n"
        "try:\n    tf.Session(config=config).run(y, {x: 1})\n"
        "except tf.errors.DeadlineExceededError:\n    print('late')\n"
    )
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.split() == ["ready", "late"]


@pytest.mark.release
def test_closing_a_session_ends_its_runs(new_graph):
    x = tf.placeholder(tf.float32, [])
    y = tf.zeros([32000000]) + x
    for _ in range(500):
        y = y * 1.0000001 + tf.reduce_max(y)
    session = tf.Session()
    outcome = []

    def work():
        try:
            session.run(y, {x: 1})
        except tf.errors.CancelledError as error:
            outcome.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.7)
    session.close()
    thread.join(timeout=30)
    assert outcome and not thread.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_session_from_before_a_fork_says_so_and_a_new_one_works(session):
    program = """
import os, sys
import numpy as np
import stillflow as tf
x = tf.reduce_sum(tf.fill([1000000], tf.Variable(1.0).initial_value))
session = tf.Session()
session.run(x)
if os.fork() == 0:
    try:
        session.run(x)
    except RuntimeError as error:
        print("refused" if "fork" in str(error) else error, flush=True)
    print(float(tf.Session().run(x)), flush=True)
    os._exit(0)
os.wait()
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert result.stdout.split() == ["refused", "1000000.0"]


def test_ops_on_variables_refuse_handles_of_other_things():
    with tf.Graph().as_default(), tf.Session() as session:
        handle = tf.FIFOQueue(3, [tf.float32]).queue_ref
        for node in (
            ops.read_variable_op(handle, dtype=tf.float32),
            ops.assign_variable_op(handle, tf.constant(1.0)),
            ops.resource_gather(handle, [0], dtype=tf.float32),
            ops.var_is_initialized_op(handle),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match="is not a variable"):
                session.run(node)


def test_reset_closes_the_sessions_without_a_server(new_graph):
    variable = tf.Variable(3.0)
    first, second = tf.Session(), tf.Session()
    first.run(variable.initializer)
    tf.Session.reset("")
    for session in (first, second):
        with pytest.raises(tf.errors.CancelledError, match=r"^Session has been closed\.$"):
            session.run(variable)
        session.close()
    with tf.Session() as session:
        session.run(variable.initializer)
        assert session.run(variable) == 3.0


def test_what_a_missing_fetch_is_called(session):
    tf.constant(1.0)
    expected = (
        "Fetch argument 'nope:0' cannot be interpreted as a Tensor. (\"The name 'nope:0' refers to a Tensor which "
        "does not exist. The operation, 'nope', does not exist in the graph.\")"
    )
    with pytest.raises(ValueError, match=f"^{re.escape(expected)}$"):
        session.run("nope:0")


def test_a_condition_that_is_no_scalar_is_found_when_it_is_run(session):
    check = tf.Assert(tf.constant([True, False]), ["no"])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"In\[0\] should be a scalar: \[2\]"):
        session.run(check)
    with pytest.raises(ValueError, match=r"^Unrecognized keyword arguments for tf.print: {'file': 'x'}$"):
        tf.print("a", file="x")

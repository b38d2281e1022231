"""What a run does while one of its steps waits: others go on, failures end it, and results stay the same."""

import threading
import time

import numpy as np
import pytest

import stillflow as tf


def run_within(seconds, session, fetches, feed_dict=None):
    """The values, or the error. Fails if the run takes longer."""
    found = []

    def run():
        try:
            found.append(session.run(fetches, feed_dict))
        except tf.errors.OpError as error:
            found.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    assert found, "the run hangs"
    return found[0]


@pytest.fixture
def session(new_graph):
    session = tf.Session()
    yield session
    session.close()


def failing():
    return tf.Assert(False, ["no"])


# ---- Failures ---------------------------------------------------------------------------------------------------


def full_queue(session):
    full = tf.FIFOQueue(1, [tf.int32], shapes=[()])
    session.run(full.enqueue(1))
    return full.enqueue(2)


WAITING = {
    "dequeue": lambda session: tf.FIFOQueue(3, [tf.int32], shapes=[()]).dequeue(),
    "dequeue_many": lambda session: tf.RandomShuffleQueue(3, 0, [tf.int32], shapes=[()]).dequeue_many(2),
    "dequeue_up_to": lambda session: tf.PaddingFIFOQueue(3, [tf.int32], shapes=[(None,)]).dequeue_up_to(2),
    "enqueue": full_queue,
    "take_grad": lambda session: tf.ConditionalAccumulator(tf.float32, [2]).take_grad(1),
    "sparse_take_grad": lambda session: tf.SparseConditionalAccumulator(tf.float32, [2]).take_grad(1),
    "reader": lambda session: tf.TextLineReader().read(tf.FIFOQueue(3, [tf.string], shapes=[()])),
}


@pytest.mark.parametrize("kind", list(WAITING))
@pytest.mark.parametrize("fails_first", [True, False])
def test_a_failure_ends_what_waits(session, kind, fails_first):
    if fails_first:
        check = failing()
    waiting = WAITING[kind](session)
    if not fails_first:
        check = failing()
    fetches = [waiting.op if isinstance(waiting, tf.Tensor) else waiting, check]
    error = run_within(20, session, fetches)
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert error.op.type == "Assert"


def test_a_failure_behind_a_loop_and_a_branch(session):
    waiting = tf.FIFOQueue(3, [tf.int32], shapes=[()]).dequeue()
    rounds = tf.while_loop(lambda i: i < 7, lambda i: i + tf.cond(i > 2, lambda: 2, lambda: 1), [tf.constant(0)])
    with tf.control_dependencies([tf.Assert(tf.equal(rounds, 0), [rounds])]):
        fails = tf.constant(0) + rounds
    error = run_within(20, session, [waiting, fails])
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert "[7]" in error.message


def test_a_failure_ends_several_that_wait(session):
    waiting = [tf.FIFOQueue(3, [tf.int32], shapes=[()]).dequeue() for _ in range(4)]
    error = run_within(20, session, [waiting, failing()])
    assert isinstance(error, tf.errors.InvalidArgumentError)
    assert run_within(20, session, tf.constant(3)) == 3


def test_the_session_goes_on_after_a_failure(session):
    source = tf.FIFOQueue(3, [tf.int32], shapes=[()])
    taken, fails = source.dequeue(), failing()
    for i in range(3):
        assert isinstance(run_within(20, session, [taken, fails]), tf.errors.InvalidArgumentError)
        session.run(source.enqueue(i))
        assert session.run(taken) == i  # what was cancelled has taken nothing


def test_a_failure_waits_for_python_functions(session):
    ended = []

    def slow():
        time.sleep(0.3)
        ended.append(True)
        return np.int64(1)

    fetches = [tf.py_func(slow, [], tf.int64), failing()]
    assert isinstance(run_within(20, session, fetches), tf.errors.InvalidArgumentError)
    assert ended == [True]


def test_a_timeout_ends_all_that_wait(new_graph):
    waiting = [tf.FIFOQueue(3, [tf.int32], shapes=[()]).dequeue() for _ in range(3)]
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=100)) as session:
        assert isinstance(run_within(20, session, waiting), tf.errors.DeadlineExceededError)


def test_closing_the_session_ends_all_that_wait(session):
    waiting = [tf.FIFOQueue(3, [tf.int32], shapes=[()]).dequeue() for _ in range(3)]
    threading.Timer(0.2, session.close).start()
    assert isinstance(run_within(20, session, waiting), tf.errors.CancelledError)


# ---- Steps that wait for each other -----------------------------------------------------------------------------


def test_an_enqueue_of_the_same_run_serves_a_dequeue(session):
    first, second = (tf.FIFOQueue(3, [tf.int32], shapes=[()]) for _ in range(2))
    taken = first.dequeue()
    handed_on = second.enqueue(taken + 1)
    put = first.enqueue(41)
    result = second.dequeue()
    for _ in range(3):
        assert run_within(20, session, [taken, result, handed_on, put])[:2] == [41, 42]


def test_python_functions_wait_for_each_other(session):
    count = 5
    barrier = threading.Barrier(count)

    def meet(i):
        barrier.wait()
        return i

    results = [tf.py_func(meet, [i], tf.int32) for i in range(count)]
    total = tf.add_n([tf.reshape(x, []) for x in results])
    for _ in range(3):
        values, found = run_within(20, session, [results, total])
        assert (values, found) == (list(range(count)), 10)


def test_a_python_function_waits_in_a_busy_loop(session):
    seen = []

    def wait():
        while not seen:
            time.sleep(0.001)
        return np.int64(1)

    def let_go():
        seen.append(True)
        return np.int64(2)

    assert run_within(20, session, [tf.py_func(wait, [], tf.int64), tf.py_func(let_go, [], tf.int64)]) == [1, 2]


def test_python_functions_that_wait_run_side_by_side(session):
    def wait():
        time.sleep(0.5)
        return np.int64(1)

    fetches = [tf.py_func(wait, [], tf.int64) for _ in range(4)]
    start = time.monotonic()
    assert run_within(20, session, fetches) == [1] * 4
    assert time.monotonic() - start < 1.6


def test_order_gives_way_where_nothing_else_is_left(session):
    """The second function comes after the first in order, which waits for what the second makes."""
    source = tf.FIFOQueue(1, [tf.int64], shapes=[()])
    first = tf.py_func(lambda x: x + 1, [source.dequeue()], tf.int64)
    put = source.enqueue(tf.reshape(tf.py_func(lambda: np.int64(5), [], tf.int64), []))
    assert run_within(20, session, [first, put])[0] == 6


# ---- Order ------------------------------------------------------------------------------------------------------


def test_python_functions_that_compute_run_in_order(session):
    seen = []

    def compute(i):
        seen.append(i)
        end = time.monotonic() + 0.1
        while time.monotonic() < end:
            pass
        seen.append(i)
        return i

    session.run([tf.py_func(compute, [i], tf.int32) for i in range(3)])
    assert seen == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("delay", [0, 0.1])
@pytest.mark.parametrize("use_resource", [False, True])
def test_variables_are_used_in_order_however_long_a_step_waits(session, delay, use_resource):
    v = tf.get_variable("v", initializer=tf.constant(1), use_resource=use_resource)
    source = tf.FIFOQueue(3, [tf.int32], shapes=[()])
    taken = source.dequeue()
    with tf.control_dependencies([taken]):
        before = tf.identity(v.read_value())
    changed = tf.assign_add(v, 10)
    put = source.enqueue(7)
    session.run(v.initializer)
    threading.Timer(delay, session.run, [put]).start()
    assert run_within(20, session, [taken, before, changed])[:2] == [7, 1]
    assert session.run(v) == 11


def test_a_run_that_waits_gives_the_same_bits(session):
    """A step of training whose input comes late."""
    source = tf.FIFOQueue(3, [tf.float32], shapes=[(8, 3)])
    x = source.dequeue()
    w = tf.get_variable("w", [3, 4], initializer=tf.constant_initializer(0.25))
    y = tf.nn.dropout(tf.matmul(x, w), 0.5, seed=1) + tf.random_normal([4], seed=2)
    loss = tf.reduce_sum(tf.square(y)) + tf.nn.l2_loss(w)
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    batch = np.linspace(-1, 1, 24, dtype=np.float32).reshape(8, 3)
    put = source.enqueue(batch)

    def trained(delay):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = []
            for _ in range(3):
                threading.Timer(delay, session.run, [put]).start() if delay else session.run(put)
                values.append(run_within(20, session, [loss, w, train])[:2])
            return values

    for late, prompt in zip(trained(0.05), trained(0), strict=True):
        assert late[0] == prompt[0]
        np.testing.assert_array_equal(late[1], prompt[1])


def test_memory_is_kept_for_what_was_overtaken(session):
    """What a step reads that waits is not reused by those that overtake it."""
    source = tf.FIFOQueue(3, [tf.int32], shapes=[()])
    x = tf.placeholder(tf.float32, [1000])
    y = tf.cumsum(x)
    slow = tf.py_func(lambda a: (time.sleep(0.1), a.sum())[1], [y], tf.float32)
    z = y
    for _ in range(5):
        z = tf.cumsum(tf.negative(z))
    data = np.ones(1000, np.float32)
    expected = session.run([y, z], {x: data})
    with tf.control_dependencies([z]):
        put = source.enqueue(3)
    found = run_within(20, session, [slow, z, source.dequeue(), put], {x: data})
    assert found[0] == expected[0].sum()
    np.testing.assert_array_equal(found[1], expected[1])
    assert found[2] == 3


def test_a_trace_has_all_steps(session):
    source = tf.FIFOQueue(3, [tf.int32], shapes=[()])
    taken, put = source.dequeue(), source.enqueue(3)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    session.run([taken, put], options=options, run_metadata=metadata)
    names = {stats.node_name for device in metadata.step_stats.dev_stats for stats in device.node_stats}
    assert {taken.op.name, put.name} <= names

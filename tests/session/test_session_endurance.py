"""Sessions under strain: many threads, graphs that grow, thousands of steps, the end of the process."""

import gc
import resource
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf

PAGE = resource.getpagesize()


def resident_bytes():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * PAGE


needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")


def run_in_threads(count, work):
    """Runs work(number) in so many threads and raises what one of them raised."""
    failures = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


def small_model():
    """A training step with dense and sparse updates, and a tensor that fails if it is fed a 0."""
    table = tf.Variable(tf.ones([50, 8]))
    w = tf.Variable(tf.ones([8, 3]))
    rows = tf.placeholder(tf.int32, [None])
    loss = tf.reduce_mean(tf.square(tf.matmul(tf.gather(table, rows), w) - 1.0))
    train = tf.train.GradientDescentOptimizer(0.001).minimize(loss)
    divisor = tf.placeholder(tf.int32, [])
    return train, loss, rows, tf.constant(6) // divisor, divisor


# ---- Memory -----------------------------------------------------------------------------------------------------


@needs_proc
@pytest.mark.release
def test_memory_is_flat_over_many_steps(new_graph):
    train, loss, rows, quotient, divisor = small_model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def steps(count):
            for i in range(count):
                session.run([train, loss], {rows: [i % 50, 3, 3]})
                if i % 20 == 0:
                    with pytest.raises(tf.errors.InvalidArgumentError):
                        session.run(quotient, {divisor: 0})

        steps(2000)
        before = resident_bytes()
        steps(20000)
        assert resident_bytes() - before < 4 << 20


@needs_proc
@pytest.mark.release
def test_memory_is_flat_over_many_shapes(new_graph):
    x = tf.placeholder(tf.float32, [None, None])
    y = tf.reduce_sum(tf.exp(x) * 2.0, 0)
    with tf.Session() as session:

        def steps(count):
            for i in range(count):
                session.run(y, {x: np.ones((i % 37 + 1, i % 23 + 1), np.float32)})

        steps(1000)
        before = resident_bytes()
        steps(6000)
        assert resident_bytes() - before < 4 << 20


@needs_proc
@pytest.mark.release
def test_sessions_and_graphs_are_returned():
    def use():
        with tf.Graph().as_default(), tf.Session() as session:
            w = tf.Variable(tf.zeros([100000]))
            session.run(w.initializer)
            return session.run(tf.reduce_sum(w + 1.0))

    for _ in range(20):
        use()
    before = resident_bytes()
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(100):
        assert use() == 100000
    assert resident_bytes() - before < 8 << 20
    assert len(list(Path("/proc/self/fd").iterdir())) <= descriptors


def test_a_session_without_references_is_closed():
    import weakref

    x = tf.constant(1.0)
    session = tf.Session()
    session.run(x)
    alive = weakref.ref(session)
    del session
    gc.collect()
    assert alive() is None


# ---- Threads ------------------------------------------------------------------------------------------------------


def test_threads_with_plans_of_their_own_do_not_disturb_each_other(new_graph):
    x = tf.placeholder(tf.float32, [None])
    outputs = [tf.reduce_sum(tf.exp(x * 0.0) * float(i)) for i in range(8)]
    with tf.Session() as session:

        def work(number):
            for i in range(100):
                size = (i * 7 + number) % 50 + 1
                value = session.run(outputs[number], {x: np.zeros(size, np.float32)})
                assert value == size * number

        run_in_threads(8, work)


def test_large_kernels_of_several_threads_share_the_pool(new_graph):
    x = tf.placeholder(tf.float32, [None])
    y = tf.reduce_sum(tf.sqrt(x))
    values = np.arange(300000, dtype=np.float32)
    with tf.Session() as session:
        expected = session.run(y, {x: values})

        def work(number):
            for _ in range(20):
                assert session.run(y, {x: values}) == expected

        run_in_threads(6, work)


def test_a_graph_may_grow_while_it_runs(new_graph):
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    with tf.Session() as session:

        def work(number):
            with new_graph.as_default():
                for i in range(100):
                    if number % 2:
                        assert session.run(y, {x: i}) == 2 * i
                    else:
                        assert session.run(tf.add(x, float(i)), {x: 1}) == i + 1

        run_in_threads(4, work)


def test_an_error_in_one_thread_is_no_other_s(new_graph):
    x = tf.placeholder(tf.int32, [])
    y = tf.constant(12) // x
    with tf.Session() as session:

        def work(number):
            for _ in range(100):
                if number % 2:
                    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
                        session.run(y, {x: 0})
                else:
                    assert session.run(y, {x: 3}) == 4

        run_in_threads(6, work)


def test_closing_twice_and_from_several_threads(new_graph):
    x = tf.constant(1.0)
    for _ in range(20):
        session = tf.Session()
        session.run(x)
        run_in_threads(4, lambda number, session=session: session.close())
        with pytest.raises(RuntimeError, match="Attempted to use a closed Session"):
            session.run(x)


@pytest.mark.release
def test_the_process_ends_while_a_thread_runs():
    program = """
import threading
import stillflow as tf
x = tf.placeholder(tf.float32, [])
y = tf.zeros([8000000]) + x
for _ in range(2000):
    y = y * 1.0000001 + tf.reduce_max(y)
session = tf.Session()
session.run(x, {x: 1})
threading.Thread(target=lambda: session.run(y, {x: 1}), daemon=True).start()
import time
time.sleep(0.5)
print("over", flush=True)
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert result.stdout == "over\n" and result.returncode == 0, result.stderr

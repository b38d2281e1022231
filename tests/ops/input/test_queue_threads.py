"""Queues among threads: nothing is lost or doubled, and nothing hangs, whenever somebody closes or stops."""

import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import stillflow as tf

THREADS = 8
ELEMENTS = 30_000
PATIENCE = 60  # seconds until a test takes threads for hanging


def join(threads):
    deadline = time.monotonic() + PATIENCE
    for thread in threads:
        thread.join(max(deadline - time.monotonic(), 0.01))
    assert not any(thread.is_alive() for thread in threads), "threads hang"


def start(*targets):
    threads = [threading.Thread(target=target, daemon=True) for target in targets]
    for thread in threads:
        thread.start()
    return threads


QUEUES = {
    "fifo": lambda: tf.FIFOQueue(100, [tf.int64, tf.string], [(), ()]),
    "padding": lambda: tf.PaddingFIFOQueue(100, [tf.int64, tf.string], [[], []]),
    "shuffle": lambda: tf.RandomShuffleQueue(100, 20, [tf.int64, tf.string], [(), ()]),
    "priority": lambda: tf.PriorityQueue(100, [tf.string], [()]),
}


@pytest.mark.parametrize("kind", QUEUES)
def test_nothing_is_lost_or_doubled(kind):
    """Producers and consumers that take one, many, or up to some elements at a time."""
    q = QUEUES[kind]()
    number, text = tf.placeholder(tf.int64), tf.placeholder(tf.string)
    enqueue, enqueue_many = q.enqueue([number, text]), q.enqueue_many([number, text])
    dequeue, dequeue_up_to, dequeue_many = q.dequeue(), q.dequeue_up_to(7), q.dequeue_many(5)
    close, seen, failures = q.close(), [[] for _ in range(THREADS)], []

    with tf.Session() as session:

        def produce(i):
            own = np.arange(i, ELEMENTS, THREADS)
            try:
                for at in range(0, len(own), 20):
                    part = own[at : at + 20]
                    if at // 20 % 2:
                        session.run(enqueue_many, {number: part, text: [str(n) for n in part]})
                    else:
                        for n in part:
                            session.run(enqueue, {number: n, text: str(n)})
            except Exception as error:
                failures.append(error)

        def consume(i):
            fetch = [dequeue, dequeue_up_to, dequeue_up_to, dequeue_many][i % 4]
            try:
                while True:
                    numbers, texts = session.run(fetch)
                    seen[i].extend(zip(np.atleast_1d(numbers).tolist(), np.atleast_1d(texts).tolist(), strict=True))
            except tf.errors.OutOfRangeError:
                pass
            except Exception as error:
                failures.append(error)

        consumers = start(*[lambda i=i: consume(i) for i in range(THREADS)])
        producers = start(*[lambda i=i: produce(i) for i in range(THREADS)])
        join(producers)
        session.run(close)
        join(consumers)
        assert not failures
        rest = session.run(q.size())
        if rest:  # too few for those who wanted many
            seen[0].extend(zip(*[part.tolist() for part in session.run(q.dequeue_many(rest))], strict=True))
    everything = [element for part in seen for element in part]
    assert len(everything) == ELEMENTS
    assert sorted(everything) == [(n, str(n).encode()) for n in range(ELEMENTS)]


@pytest.mark.parametrize("kind", ["fifo", "padding"])
def test_fifo_order_is_kept_for_each_producer(kind):
    q = QUEUES[kind]()
    number = tf.placeholder(tf.int64)
    enqueue, dequeue = q.enqueue([number, ""]), q.dequeue()
    with tf.Session() as session:
        producers = [lambda i=i: [session.run(enqueue, {number: i * 1000 + n}) for n in range(300)] for i in range(4)]
        threads = start(*producers)
        seen = [int(session.run(dequeue)[0]) for _ in range(1200)]
        join(threads)
    for i in range(4):
        assert [n % 1000 for n in seen if n // 1000 == i] == list(range(300))


ENDINGS = ("close", "cancel", "session", "timeout", "coordinator")


@pytest.mark.parametrize("ending", ENDINGS)
def test_ends_at_random_instants(ending):
    """Of 150 runs in all each ends somehow, and what is left in the queue is what nobody has taken."""
    random = np.random.default_rng(ENDINGS.index(ending))
    for trial in range(150 // len(ENDINGS)):
        with tf.Graph().as_default():
            _end_at_random(ending, random, list(QUEUES.values())[trial % len(QUEUES)]())


def _end_at_random(ending, random, q):
    number = tf.placeholder(tf.int64)
    numbers = tf.placeholder(tf.int64)
    enqueues = [q.enqueue([number, "x"]), q.enqueue_many([numbers, tf.fill(tf.shape(numbers), "x")])]
    dequeues = [q.dequeue(), q.dequeue_many(3), q.dequeue_up_to(4)]
    close, cancel, size = q.close(), q.close(cancel_pending_enqueues=True), q.size()
    options = tf.RunOptions(timeout_in_ms=int(random.integers(1, 5))) if ending == "timeout" else None
    coord = tf.train.Coordinator()
    put, taken, failures = [], [], []
    expected = (tf.errors.OutOfRangeError, tf.errors.CancelledError, tf.errors.DeadlineExceededError, RuntimeError)
    session = tf.Session()

    def work(i, step):
        try:
            while not coord.should_stop():
                step(i)
        except expected:
            pass
        except Exception as error:
            failures.append(error)

    def produce(i):
        n = len(put)
        if i % 2:
            session.run(enqueues[0], {number: n}, options=options)
            put.append(1)
        else:
            session.run(enqueues[1], {numbers: [n, n, n]}, options=options)
            put.append(3)

    def consume(i):
        taken.append(np.size(session.run(dequeues[i % 3], options=options)[0]))

    threads = start(*[lambda i=i: work(i, produce) for i in range(2 + int(random.integers(3)))])
    threads += start(*[lambda i=i: work(i, consume) for i in range(int(random.integers(4)))])
    time.sleep(float(random.random()) * 0.004)
    if ending == "close":
        # Close waits for those who put in, and if nobody takes out they wait for good.
        threads += start(lambda: work(0, lambda _: session.run(close)))
        threads[-1].join(0.01)
        session.run(cancel)
    elif ending == "cancel":
        session.run(cancel)
    elif ending == "session":
        session.close()
    elif ending == "timeout":
        coord.request_stop()
    elif ending == "coordinator":
        threads += tf.train.QueueRunner(q, [enqueues[0]], close, cancel).create_threads(session, coord, True, True)
        coord.request_stop()
    join(threads)
    assert not failures
    if ending in ("cancel", "coordinator"):
        # What a cancelled enqueue_many had put in already stays: at most 2 of each such thread.
        left = session.run(size)
        assert 0 <= left + sum(taken) - sum(put) <= 2 * THREADS
    session.close()


PROGRAM = """
import sys, threading, time
import stillflow as tf
q = tf.FIFOQueue(1, tf.int32, [()])
session = tf.Session()
{body}
"""


def run_program(body, send=None):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM.format(body=body)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    if send is not None:
        assert process.stdout.readline() == "waiting\n"
        time.sleep(0.3)
        process.send_signal(send)
    begin = time.monotonic()
    out, err = process.communicate(timeout=PATIENCE)
    return process.returncode, out, err, time.monotonic() - begin


def test_ctrl_c_ends_a_wait():
    body = """
print("waiting", flush=True)
try:
    session.run(q.dequeue())
except KeyboardInterrupt:
    print("interrupted")
session.run(q.enqueue(3))
print(session.run(q.dequeue()))
"""
    code, out, err, seconds = run_program(body, signal.SIGINT)
    assert (code, out) == (0, "interrupted\n3\n"), err
    assert seconds < 5


def test_a_program_ends_while_its_threads_wait():
    body = """
dequeue, enqueue = q.dequeue(), q.enqueue(1)
for op in (dequeue, dequeue):
    threading.Thread(target=session.run, args=(op,), daemon=True).start()
time.sleep(0.3)
print("end")
"""
    code, out, err, _ = run_program(body)
    assert (code, out) == (0, "end\n"), err


def test_waiting_costs_no_time():
    """Threads that wait sleep."""
    q = tf.FIFOQueue(1, tf.int32, [()])
    dequeue = q.dequeue()
    with tf.Session() as session:
        session.run(q.size())

        def wait():
            with pytest.raises(tf.errors.CancelledError):
                session.run(dequeue)

        threads = start(*[wait] * 8)
        time.sleep(0.3)
        before = time.process_time()
        time.sleep(1)
        assert time.process_time() - before < 0.1
        session.close()
        join(threads)

"""Coordinators: who asks to stop, who waits, and which exception comes out of it."""

import sys
import threading
import time

import pytest

import stillflow as tf


def test_threads_stop_together():
    coord = tf.train.Coordinator()
    counts = [0] * 3

    def work(i):
        while not coord.should_stop():
            counts[i] += 1
            if counts[i] == 100 * (i + 1):
                coord.request_stop()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    coord.join(threads)
    assert coord.joined and coord.should_stop() and coord.wait_for_stop()
    assert counts[0] <= 100 and not any(thread.is_alive() for thread in threads)


def test_join_waits_for_threads_that_nobody_asks_to_stop():
    coord = tf.train.Coordinator()
    thread = threading.Thread(target=time.sleep, args=(0.2,))
    thread.start()
    coord.register_thread(thread)
    start = time.monotonic()
    coord.join()
    assert time.monotonic() - start > 0.15
    assert not coord.should_stop() and coord.joined
    assert not coord.wait_for_stop(0.01)


def test_the_first_exception_comes_out_of_join():
    coord = tf.train.Coordinator()
    coord.request_stop(ValueError("first"))
    coord.request_stop(TypeError("second"))
    assert coord.should_stop()
    for _ in range(2):
        with pytest.raises(ValueError, match="first"):
            coord.join()
    with pytest.raises(ValueError, match="first"):
        coord.raise_requested_exception()
    with pytest.raises(KeyError):
        coord.request_stop(KeyError("after join"))
    coord.request_stop()
    coord.clear_stop()
    assert not coord.should_stop() and not coord.joined
    coord.raise_requested_exception()
    coord.join()


def test_exception_info_is_an_exception():
    coord = tf.train.Coordinator()
    try:
        raise ValueError("inside")
    except ValueError:
        coord.request_stop(sys.exc_info())
    with pytest.raises(ValueError, match="inside"):
        coord.join()
    with pytest.raises(TypeError, match="Expected an exception"):
        tf.train.Coordinator().request_stop("because")


def test_the_end_of_the_input_is_no_error():
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
    coord.join()
    coord = tf.train.Coordinator()
    coord.request_stop(tf.errors.CancelledError(None, None, "cancelled"))
    with pytest.raises(tf.errors.CancelledError):
        coord.join()
    coord = tf.train.Coordinator(clean_stop_exception_types=(ValueError,))
    coord.request_stop(ValueError("fine"))
    coord.join()


@pytest.mark.parametrize("error", [ValueError("x"), SystemExit(3), KeyboardInterrupt()])
def test_stop_on_exception_keeps_it_for_join(error):
    coord = tf.train.Coordinator()
    with coord.stop_on_exception():
        raise error
    assert coord.should_stop()
    with pytest.raises(type(error)):
        coord.join()
    with tf.train.Coordinator().stop_on_exception():
        pass


def test_stragglers():
    event = threading.Event()
    thread = threading.Thread(target=event.wait, args=(20,), name="slow")
    thread.start()
    coord = tf.train.Coordinator()
    coord.register_thread(thread)
    coord.request_stop()
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="Coordinator stopped with threads still running: slow"):
        coord.join(stop_grace_period_secs=0.2)
    assert 0.15 < time.monotonic() - start < 5
    coord.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
    coord = tf.train.Coordinator()
    coord.request_stop(ValueError("the reason"))
    with pytest.raises(ValueError, match="the reason"):
        coord.join([thread], stop_grace_period_secs=0.01)
    event.set()
    thread.join()


def test_looper_threads():
    coord, calls = tf.train.Coordinator(), []
    thread = tf.train.LooperThread.loop(coord, 0.05, lambda a, b=0: calls.append((a, b)), args=(1,), kwargs={"b": 2})
    assert thread.daemon
    deadline = time.monotonic() + 20
    while len(calls) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    coord.request_stop()
    coord.join()
    assert len(calls) >= 3 and calls[0] == (1, 2)
    count = len(calls)
    time.sleep(0.12)
    assert len(calls) == count

    class Counted(tf.train.LooperThread):
        def start_loop(self):
            calls.append("start")

        def run_loop(self):
            calls.append("run")
            if calls.count("run") == 4:
                coord.request_stop()

        def stop_loop(self):
            calls.append("stop")

    coord = tf.train.Coordinator()
    calls.clear()
    Counted(coord, None).start()
    coord.join()
    assert calls == ["start", "run", "run", "run", "run", "stop"]


def test_an_exception_in_a_looper_stops_the_others():
    coord = tf.train.Coordinator()
    tf.train.LooperThread.loop(coord, None, lambda: 1 / 0)
    tf.train.LooperThread.loop(coord, 100, lambda: None)
    with pytest.raises(ZeroDivisionError):
        coord.join()
    with pytest.raises(ValueError, match="'coord' argument must be a Coordinator: 3"):
        tf.train.LooperThread(3, 1)
    with pytest.raises(ValueError, match="require that you also pass 'target'"):
        tf.train.LooperThread(coord, 1, args=(1,))

"""tf.train.Coordinator: threads that stop together, and LooperThread, one that calls a function until they do."""

from __future__ import annotations

import contextlib
import threading
import time

from stillflow import errors
from stillflow.names import public

# How long `join` looks away: threads can end without saying so.
_GLANCE_SECS = 0.05


@public("train.Coordinator")
class Coordinator:
    """Lets threads ask each other to stop, and whoever waits for them learn why.

    A thread that works until it is told to stop:

        while not coord.should_stop():
            ...

    Any of them calls `coord.request_stop()` when it is done, or within `with coord.stop_on_exception():` fails;
    `coord.join(threads)` waits for all and raises the first exception that was reported.

    Args:
      clean_stop_exception_types: a tuple of the exceptions that mean that all went well; by default
        (tf.errors.OutOfRangeError,): the end of the input.
    """

    def __init__(self, clean_stop_exception_types=None):
        if clean_stop_exception_types is None:
            clean_stop_exception_types = (errors.OutOfRangeError,)
        self._clean_stop_exception_types = tuple(clean_stop_exception_types)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._exception: BaseException | None = None
        self._joined = False
        self._registered_threads: set = set()

    def request_stop(self, ex=None):
        """Asks the threads to stop; `should_stop` is True from now on.

        Args:
          ex: an exception, or a tuple as of sys.exc_info(), that `join` is to raise. The first one counts, and one of
            the clean types does not. After `join` it is raised here.

        Raises:
          TypeError: if `ex` is no exception; the threads are asked to stop all the same.
        """
        error = _as_exception(ex)
        is_first = False
        with self._lock:
            if self._joined:
                if error is not None:
                    raise error
                return
            if not self._stop_event.is_set():
                if error is not None and not isinstance(error, self._clean_stop_exception_types):
                    self._exception = error
                    is_first = True
                self._stop_event.set()
        if is_first:
            if error is ex:
                _log().info("Error reported to Coordinator: %s, %s", type(error), error)
            else:
                _log().info("Error reported to Coordinator: %s", error)
        if error is not None and error is not ex and not isinstance(ex, tuple):
            raise error

    def clear_stop(self):
        """Forgets that somebody asked to stop, and why: the coordinator is as new."""
        with self._lock:
            self._joined = False
            self._exception = None
            self._stop_event.clear()

    def should_stop(self):
        """Whether somebody has asked to stop."""
        return self._stop_event.is_set()

    @contextlib.contextmanager
    def stop_on_exception(self):
        """A context in which an exception is reported by `request_stop`, and goes no further."""
        try:
            yield
        except BaseException as error:
            self.request_stop((type(error), error, error.__traceback__))

    def wait_for_stop(self, timeout=None):
        """Waits until somebody asks to stop, at most `timeout` seconds. Whether somebody has."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread):
        """Adds a thread to those that `join` waits for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(self, threads=None, stop_grace_period_secs=120, ignore_live_threads=False):
        """Waits until the threads have ended: for as long as they like, or a time after somebody asked to stop.

        Args:
          threads: threads to wait for, besides those that were registered.
          stop_grace_period_secs: how long they may take to stop once asked to.
          ignore_live_threads: whether it is no error if some have not ended then.

        Raises:
          The exception that was given to `request_stop`, if any.
          RuntimeError: if threads are still running after the grace period.
        """
        with self._lock:
            threads = list(dict.fromkeys([*self._registered_threads, *(threads or ())]))
        while _wait_for_any(threads) and not self.should_stop():
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in threads:
            thread.join(max(end - time.monotonic(), 0))
        stragglers = [thread.name for thread in threads if thread.is_alive()]
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            error = self._exception
        if error is not None:
            raise error
        if stragglers:
            text = f"Coordinator stopped with threads still running: {' '.join(stragglers)}"
            if not ignore_live_threads:
                raise RuntimeError(text)
            _log().info(text)

    @property
    def joined(self):
        """Whether `join` has returned or raised, since the last `clear_stop`."""
        return self._joined

    def raise_requested_exception(self):
        """Raises the exception that was given to `request_stop`, if there is one."""
        with self._lock:
            error = self._exception
        if error is not None:
            raise error


def _as_exception(ex):
    """The exception that an argument of request_stop means, or the one for its being none."""
    error = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
    if error is None or isinstance(error, BaseException):
        return error
    return TypeError(f"Expected an exception or a tuple as of sys.exc_info(), but got {ex!r}")


def _wait_for_any(threads):
    """Gives threads a moment to end. Whether one is alive after it."""
    for thread in threads:
        if thread.is_alive():
            thread.join(_GLANCE_SECS)
            return thread.is_alive() or any(other.is_alive() for other in threads)
    return False


def _log():
    from stillflow.platform import logging

    return logging


@public("train.LooperThread")
class LooperThread(threading.Thread):
    """A thread that calls `run_loop`, or a target, again and again until its coordinator stops.

    It is a daemon and registered with the coordinator; an exception in it stops the coordinator. `start_loop` and
    `stop_loop` are called before and after the loop.

    Args:
      coord: the Coordinator.
      timer_interval_secs: how often to call, counted from the start; None for as often as possible.
      target: what to call instead of `run_loop`.
      args, kwargs: its arguments.

    Raises:
      ValueError: if `coord` is no Coordinator, or arguments come without a target.
    """

    def __init__(self, coord, timer_interval_secs, target=None, args=None, kwargs=None):
        if not isinstance(coord, Coordinator):
            raise ValueError(f"'coord' argument must be a Coordinator: {coord}")
        if target is None and (args or kwargs):
            raise ValueError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._loop_target = target
        self._loop_args = args or ()
        self._loop_kwargs = kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(coord, timer_interval_secs, target, args=None, kwargs=None):
        """A LooperThread for the target that has been started."""
        thread = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        thread.start()
        return thread

    def run(self):
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                due = time.monotonic()
                while not self._coord.wait_for_stop(max(due - time.monotonic(), 0)):
                    due += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self):
        """Called when the thread starts."""

    def stop_loop(self):
        """Called when the loop ends, unless by an exception."""

    def run_loop(self):
        """Called in the loop."""
        if self._loop_target is not None:
            self._loop_target(*self._loop_args, **self._loop_kwargs)

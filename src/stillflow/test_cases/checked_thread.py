"""Threads of a test: what fails in one fails the test, and none is forgotten."""

from __future__ import annotations

import threading


class CheckedThread:
    """A thread that calls a function; `join` fails the test if the function raised something."""

    def __init__(self, testcase, target, args=None, kwargs=None):
        self._testcase = testcase
        self._call = (target, args or (), kwargs or {})
        self._thread = threading.Thread(target=self._run)
        self._error: Exception | None = None
        self._is_joined = False

    def _run(self):
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self):
        """Starts the thread; once only."""
        self._thread.start()

    def join(self):
        """Waits for the end of the thread. Fails the test if its function raised something."""
        self._is_joined = True
        self._thread.join()
        if self._error is not None:
            self._testcase.fail(f"Error in checkedThread: {self._error}")

    def is_alive(self):
        """Whether the thread runs."""
        return self._thread.is_alive()

    def check_termination(self):
        """Fails the test if nobody called `join`."""
        if not self._is_joined:
            self._testcase.fail("A checked thread was not joined.")
        if self.is_alive():
            raise RuntimeError("Thread was not joined with main thread, and is still running when the test finished.")

"""Which traced functions are called while somebody wants to know: what tf.summary.trace_on collects."""

from __future__ import annotations

import threading


class _Collection:
    def __init__(self):
        self._lock = threading.Lock()
        self._functions: dict | None = None

    def begin(self):
        """Collects the functions that are called from now on, by any thread."""
        with self._lock:
            self._functions = {} if self._functions is None else self._functions

    def end(self):
        """Stops. Returns the graphs of the functions that were called, in the order of their first calls."""
        with self._lock:
            functions, self._functions = self._functions, None
        return list(functions or ())

    def note(self, graph):
        """Tells that the function with this graph is called."""
        if self._functions is None:
            return
        with self._lock:
            if self._functions is not None:
                self._functions[graph] = None


called_functions = _Collection()

"""Requests that wait at the same time, run together: their rows are put beneath each other."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import numpy as np

from stillflow import errors


class Batcher:
    """Runs requests of a model one batch after another. While one runs, those that come in make up the next.

    Only requests whose inputs have the same types and shapes but for the number of rows share a batch. Where one of
    a batch fails, or the outputs do not have a row for each of the inputs, each is run again by itself.

    Args:
      model: the Model.
      rows: how many rows a batch has at most.
    """

    def __init__(self, model, rows):
        self._model = model
        self._rows = rows
        self._waiting: list = []
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="batches", daemon=True)
        self._thread.start()

    def run(self, signature, feeds):
        """As Model.run."""
        request = _Request(signature, feeds)
        if request.rows is None:
            return self._model.run(signature, feeds)
        with self._changed:
            if self._closed:
                raise errors.UnavailableError(None, None, "The server is shutting down.")
            self._waiting.append(request)
            self._changed.notify()
        return request.result.result()

    def close(self):
        """Answers what waits, and takes no more."""
        with self._changed:
            self._closed = True
            self._changed.notify()
        self._thread.join()

    def _work(self):
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if not self._waiting:
                    return
                batch = self._take()
            self._answer(batch)

    def _take(self):
        """The oldest request, and those after it that fit beneath it."""
        first, rows = self._waiting[0], 0
        batch: list = []
        for request in list(self._waiting):
            if request.kind == first.kind and (not batch or rows + request.rows <= self._rows):
                batch.append(request)
                rows += request.rows
                self._waiting.remove(request)
        return batch

    def _answer(self, batch):
        if len(batch) > 1 and self._answered_together(batch):
            return
        for request in batch:
            try:
                request.result.set_result(self._model.run(request.signature, request.feeds))
            except Exception as error:  # it is the caller's, who waits in another thread
                request.result.set_exception(error)

    def _answered_together(self, batch):
        feeds = {name: np.concatenate([request.feeds[name] for request in batch]) for name in batch[0].feeds}
        ends = np.cumsum([request.rows for request in batch])
        try:
            outputs = self._model.run(batch[0].signature, feeds)
        except errors.OpError:
            return False
        if any(np.ndim(value) == 0 or len(value) != ends[-1] for value in outputs.values()):
            return False
        for number, request in enumerate(batch):
            rows = slice(ends[number] - request.rows, ends[number])
            request.result.set_result({name: value[rows] for name, value in outputs.items()})
        return True


class _Request:
    """A request that waits. `rows` is None if it has no number of rows, or several."""

    def __init__(self, signature, feeds):
        self.signature = signature
        self.feeds = feeds
        self.result: Future = Future()
        counts = {value.shape[0] if value.ndim else None for value in feeds.values()}
        self.rows = counts.pop() if len(counts) == 1 else None
        shapes = [(name, value.dtype.str, value.shape[1:]) for name, value in sorted(feeds.items())]
        self.kind = id(signature), tuple(shapes)

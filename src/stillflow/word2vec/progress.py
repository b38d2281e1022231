"""How far training has come: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import time

_LINE_SECONDS = 10.0


class Progress:
    """Shows words per second and the loss, to stderr."""

    def __init__(self, total_words):
        self._total = total_words
        self._done = 0
        self._start = self._last_line = time.perf_counter()
        self._bar = None
        if sys.stderr.isatty():
            try:
                from tqdm import tqdm
            except ImportError:
                return
            self._bar = tqdm(total=total_words, unit="words", unit_scale=True, smoothing=0.05)

    @property
    def words_per_second(self):
        """Since the start, or None before anything is done."""
        elapsed = time.perf_counter() - self._start
        return self._done / elapsed if self._done and elapsed > 0 else None

    def update(self, done_words, loss):
        if self._bar is not None:
            self._bar.update(done_words - self._done)
            self._bar.set_postfix(loss=f"{loss:.4f}", refresh=False)
        self._done = done_words
        now = time.perf_counter()
        if self._bar is None and now - self._last_line >= _LINE_SECONDS:
            self._last_line = now
            print(self.line(loss), file=sys.stderr, flush=True)

    def line(self, loss):
        share = 100 * self._done / max(self._total, 1)
        return f"{share:5.1f} %  {self.words_per_second or 0:,.0f} words/s  loss {loss:.4f}"

    def close(self):
        if self._bar is not None:
            self._bar.close()

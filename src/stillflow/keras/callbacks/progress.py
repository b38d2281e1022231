"""Progbar: a line of text that says how far something is."""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from stillflow.names import public


@public("keras.utils.Progbar")
class Progbar:
    """A line of text that says how far something is.

    Args:
      target: how many units there are, or None if that is not known.
      width: the width of the bar.
      verbose: 1 for a bar, 2 for a line at the end, 0 for nothing.
      interval: the least time between two updates, in seconds.
      stateful_metrics: names of values that are shown as they are; of the others the means are.
      unit_name: what a unit is called.
    """

    def __init__(self, target, width=30, verbose=1, interval=0.05, stateful_metrics=None, unit_name="step"):
        self.target = target
        self.width = width
        self.verbose = verbose
        self.interval = interval
        self.unit_name = unit_name
        self.stateful_metrics = set(stateful_metrics or ())
        self._dynamic_display = (
            (hasattr(sys.stdout, "isatty") and sys.stdout.isatty())
            or "ipykernel" in sys.modules
            or "posix" in sys.modules
            or "PYCHARM_HOSTED" in os.environ
        )
        self._total_width = 0
        self._seen_so_far = 0
        self._values: dict = {}
        self._start = time.time()
        self._last_update = 0.0

    def update(self, current, values=None):
        """Shows how far it is.

        Args:
          current: how many units are done.
          values: pairs of a name and a value.
        """
        for key, value in values or ():
            if key in self.stateful_metrics:
                self._values[key] = [value, 1]
            else:
                known = self._values.setdefault(key, [0.0, 0])
                known[0] += value * (current - self._seen_so_far)
                known[1] += current - self._seen_so_far
        self._seen_so_far = current
        now = time.time()
        is_done = self.target is not None and current >= self.target
        if self.verbose == 1:
            if now - self._last_update < self.interval and self.target is not None and not is_done:
                return
            self._show(current, now, is_done)
        elif self.verbose == 2 and is_done:
            self._write(f"{self._count(current)} - {now - self._start:.0f}s{self._values_text(abs_=False)}\n")
        self._last_update = now

    def _write(self, text):
        sys.stdout.write(text)
        sys.stdout.flush()

    def _count(self, current):
        return f"{current:{int(np.log10(self.target)) + 1}d}/{self.target}"

    def _show(self, current, now, is_done):
        before = self._total_width
        start = "\b" * before + "\r" if self._dynamic_display else "\n"
        bar = f"{current:7d}/Unknown"
        if self.target is not None:
            filled = int(self.width * (current / self.target))
            tip = ("=" if is_done else ">") if filled > 0 else ""
            bar = f"{self._count(current)} [{'=' * (filled - 1)}{tip}{'.' * (self.width - filled)}]"
        info = self._time(current, now, is_done) + self._values_text()
        self._total_width = len(bar) + len(info)
        info += " " * (before - self._total_width)
        self._write(start + bar + info + ("\n" if is_done else ""))

    def _time(self, current, now, is_done):
        per_unit = (now - self._start) / current if current else 0
        if self.target is not None and not is_done:
            left = per_unit * (self.target - current)
            if left > 3600:
                text = f"{left // 3600:.0f}:{left % 3600 // 60:02.0f}:{left % 60:02.0f}"
            elif left > 60:
                text = f"{left // 60:.0f}:{left % 60:02.0f}"
            else:
                text = f"{left:.0f}s"
            return f" - ETA: {text}"
        if per_unit >= 1 or per_unit == 0:
            text = f"{per_unit:.0f}s"
        elif per_unit >= 0.001:
            text = f"{per_unit * 1000:.0f}ms"
        else:
            text = f"{per_unit * 1_000_000:.0f}us"
        return f" - {now - self._start:.0f}s {text}/{self.unit_name}"

    def _values_text(self, abs_=True):
        text = ""
        for key, (total, count) in self._values.items():
            mean = np.mean(total / max(1, count))
            is_plain = (abs(mean) if abs_ else mean) > 0.001
            text += f" - {key}: {mean:.4f}" if is_plain else f" - {key}: {mean:.4e}"
        return text

    def add(self, n, values=None):
        """`update` by n units more."""
        self.update(self._seen_so_far + n, values)

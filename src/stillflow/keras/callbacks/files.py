"""The callback that writes the results of epochs to a table."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from stillflow.keras.callbacks.base import Callback
from stillflow.names import public


@public("keras.callbacks.CSVLogger")
class CSVLogger(Callback):
    """Writes the results of epochs to a table.

    Args:
      filename: the path.
      separator: what stands between columns.
      append: whether lines are added to a file that is there.
    """

    def __init__(self, filename, separator=",", append=False):
        super().__init__()
        self.sep = separator
        self.filename = filename
        self.append = append
        self.writer = None
        self.keys = None
        self.append_header = True

    def on_train_begin(self, logs=None):
        if self.append and Path(self.filename).exists():
            self.append_header = not Path(self.filename).stat().st_size
        self.csv_file = open(self.filename, "a" if self.append else "w", newline="\n")  # noqa: SIM115

    def on_epoch_end(self, epoch, logs=None):
        logs = logs or {}
        if self.keys is None:
            self.keys = sorted(logs)
        if self.model.stop_training:
            logs = {key: logs.get(key, "NA") for key in self.keys}
        if self.writer is None:
            self.writer = csv.DictWriter(self.csv_file, ["epoch", *self.keys], dialect="excel", delimiter=self.sep)
            if self.append_header:
                self.writer.writeheader()
        self.writer.writerow({"epoch": epoch, **{key: _cell(logs[key]) for key in self.keys}})
        self.csv_file.flush()

    def on_train_end(self, logs=None):
        self.csv_file.close()
        self.writer = None


def _cell(value):
    is_scalar = isinstance(value, (str, np.generic)) or (isinstance(value, np.ndarray) and value.ndim == 0)
    if not is_scalar and isinstance(value, Iterable):
        return f'"[{", ".join(map(str, value))}]"'
    return value

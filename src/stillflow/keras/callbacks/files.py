"""Callbacks that write files: tables, and events for TensorBoard."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from stillflow.composites.summaries import histogram
from stillflow.formats import protobuf
from stillflow.keras.backend.phases import get_graph, get_session
from stillflow.keras.callbacks.base import Callback
from stillflow.names import public
from stillflow.summary.writer import FileWriter


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


@public("keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes the graph, and the results of epochs or batches, to an event file for TensorBoard.

    Args:
      log_dir: the folder.
      histogram_freq: after how many epochs there are histograms of weights; 0 for none.
      batch_size: ignored.
      write_graph: whether the graph is written.
      write_grads, write_images, embeddings_freq: gradients, images of weights and embeddings are not written, of
        which a warning tells.
      embeddings_layer_names, embeddings_metadata, embeddings_data: of embeddings.
      update_freq: "epoch", "batch", or a number of samples after which results are written.
      profile_batch: ignored.
    """

    def __init__(
        self, log_dir="./logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=False,
        write_images=False, embeddings_freq=0, embeddings_layer_names=None, embeddings_metadata=None,
        embeddings_data=None, update_freq="epoch", profile_batch=2,
    ):  # fmt: skip
        super().__init__()
        for name, wanted in (
            ("write_grads", write_grads), ("write_images", write_images), ("embeddings_freq", embeddings_freq),
        ):  # fmt: skip
            if wanted:
                logging.getLogger("tensorflow").warning(
                    "`%s` has no effect: only results, the graph and histograms of weights are written.", name
                )
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._total_batches_seen = 0
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0

    def set_model(self, model):
        self.model = model
        self.writer = FileWriter(self.log_dir, get_graph() if self.write_graph else None)
        self._histograms = []
        if self.histogram_freq:
            weights = [weight for layer in model.layers for weight in layer.weights]
            self._histograms = [
                histogram(weight.name.replace(":", "_"), weight, collections=[]) for weight in weights
            ]

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= self.update_freq:
            self._write({f"batch_{key}": value for key, value in _results(logs)}, self._total_batches_seen)
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1

    def on_epoch_end(self, epoch, logs=None):
        # After batches have been written, epochs are numbered as these.
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write({f"epoch_{key}": value for key, value in _results(logs or {})}, step)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._write_histograms(epoch)

    def _write(self, results, step):
        for tag, value in results.items():
            summary = protobuf.message("Summary")()
            summary.value.add(tag=tag, simple_value=float(value))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def _write_histograms(self, step):
        for summary in get_session().run(self._histograms):
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_train_end(self, logs=None):
        self.writer.close()


def _results(logs):
    return [(key, value) for key, value in logs.items() if key not in ("batch", "size", "num_steps")]

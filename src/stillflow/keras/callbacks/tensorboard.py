"""The TensorBoard callback of Keras in TensorFlow 1: events in one folder, written by a FileWriter."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow import ops
from stillflow.composites import summaries
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.indexed_slices import IndexedSlices
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.backend.phases import get_graph, get_session, learning_phase
from stillflow.keras.backend.values import int_shape
from stillflow.keras.callbacks.base import Callback
from stillflow.keras.callbacks.weight_images import as_images, squeezed_weight
from stillflow.keras.engine.data import standardize
from stillflow.names import public
from stillflow.platform import logging
from stillflow.saver.saver import Saver
from stillflow.summary import written
from stillflow.summary.projector import visualize_embeddings
from stillflow.summary.recording import always_record_summaries
from stillflow.summary.resource_writer import create_file_writer
from stillflow.summary.writer import FileWriter
from stillflow.variables.variable import Variable

NO_RESULTS = ("batch", "size", "num_steps")  # entries of logs


@public("keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes the graph, the results of epochs or batches, histograms and embeddings for TensorBoard.

    Args:
      log_dir: the folder.
      histogram_freq: after how many epochs there are histograms of weights and outputs, which are computed with the
        validation; 0 for none. Not in eager execution.
      batch_size: of the embeddings' data.
      write_graph: whether the graph is written.
      write_grads, write_images: whether histograms of gradients and images of weights are written with those.
      embeddings_freq: after how many epochs embeddings are saved; 0 for never.
      embeddings_layer_names: of which layers; of all Embedding layers by default.
      embeddings_metadata: a file with names for the vectors, or {name of a layer: file}.
      embeddings_data: the input, one row for each vector.
      update_freq: "epoch", "batch", or a number of samples after which results are written.
      profile_batch: ignored; there is no profile.

    Raises:
      ValueError: at the end of an epoch, if embeddings are to be saved and there is no data for them.
    """

    def __init__(
        self, log_dir="./logs", histogram_freq=0, batch_size=32, write_graph=True, write_grads=False,
        write_images=False, embeddings_freq=0, embeddings_layer_names=None, embeddings_metadata=None,
        embeddings_data=None, update_freq="epoch", profile_batch=2,
    ):  # fmt: skip
        super().__init__()
        self.log_dir = log_dir
        self.histogram_freq = _usable_frequency(histogram_freq)
        self.merged = None
        self.write_graph = write_graph
        self.write_grads = write_grads
        self.write_images = write_images
        self.batch_size = batch_size
        self.embeddings_freq = embeddings_freq
        self.embeddings_layer_names = embeddings_layer_names
        self.embeddings_metadata = embeddings_metadata
        self.embeddings_data = embeddings_data
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self._total_batches_seen = 0
        self._total_val_batches_seen = 0
        self._samples_seen = 0
        self._samples_seen_at_last_write = 0
        self._chief_worker_only = True

    # ---- Before a training ----------------------------------------------------------------------------------------

    def _init_writer(self, model):
        self.writer = _writer_of(self, model)

    def set_model(self, model):
        self.model = model
        self._init_writer(model)
        _prepare_histograms(self, model)
        if self.embeddings_freq and self.embeddings_data is not None:
            self._prepare_embeddings(model)

    def _make_histogram_ops(self, model):
        if not self.histogram_freq or self.merged is not None:
            return
        for layer in model.layers:
            for weight in layer.weights:
                self._add_weight(weight)
            if self.write_grads:
                for weight in layer.trainable_weights:
                    gradients = model.optimizer.get_gradients(model.total_loss, weight)
                    values = [each.values if isinstance(each, IndexedSlices) else each for each in gradients]
                    summaries.histogram(f"{_as_name(weight)}_grad", values)
            if not hasattr(layer, "output"):
                continue
            if isinstance(layer.output, list):
                for i, output in enumerate(layer.output):
                    summaries.histogram(f"{layer.name}_out_{i}", output)
            else:
                summaries.histogram(f"{layer.name}_out", layer.output)

    def _add_weight(self, weight):
        summaries.histogram(_as_name(weight), weight)
        if not self.write_images:
            return
        squeezed = squeezed_weight(weight)
        if len(int_shape(squeezed)) in (1, 2, 3):
            summaries.image(_as_name(weight), as_images(squeezed))

    # ---- Embeddings -----------------------------------------------------------------------------------------------

    def _prepare_embeddings(self, model):
        """Makes variables of what the layers give for the data, and writes which they are."""
        self.embeddings_data = standardize(self.embeddings_data, model.input_names)
        names = self.embeddings_layer_names or [
            layer.name for layer in model.layers if type(layer).__name__ == "Embedding"
        ]
        self.assign_embeddings = []
        self.batch_id = ops.placeholder(dtypes.int32)
        self.step = ops.placeholder(dtypes.int32)
        found = {layer.name: self._embedding_of(layer) for layer in model.layers if layer.name in names}
        self.saver = Saver(list(found.values()))
        files = self.embeddings_metadata
        files = dict.fromkeys(found, files) if isinstance(files, str) else files or {}
        config = protobuf.message("ProjectorConfig")()
        for name, variable in found.items():
            embedding = config.embeddings.add()
            embedding.tensor_name = variable.name
            if name in files:
                embedding.metadata_path = files[name]
        visualize_embeddings(self.writer, config)

    def _embedding_of(self, layer):
        output = layer.output
        size = int(np.prod(output.shape.as_list()[1:]))
        variable: Any = Variable(ops.zeros((self.embeddings_data[0].shape[0], size)), name=f"{layer.name}_embedding")
        rows = variable[self.batch_id : self.batch_id + self.step]
        self.assign_embeddings.append(rows.assign(ops.reshape(output, (self.step, size))))
        return variable

    def _save_embeddings(self, epoch):
        count = self.embeddings_data[0].shape[0]
        session = get_session()
        inputs = self.model.input if isinstance(self.model.input, list) else [self.model.input]
        for begin in range(0, count, self.batch_size):
            size = min(self.batch_size, count - begin)
            fed = {
                tensor: data[begin : begin + size] for tensor, data in zip(inputs, self.embeddings_data, strict=False)
            }
            fed.update({self.batch_id: begin, self.step: size})
            if not isinstance(learning_phase(), int):
                fed[learning_phase()] = False
            session.run(self.assign_embeddings, feed_dict=fed)
        self.saver.save(session, f"{self.log_dir}/keras_embedding.ckpt", epoch)

    # ---- While it is trained --------------------------------------------------------------------------------------

    def _fetch_callback(self, summary):
        self.writer.add_summary(summary, self._total_val_batches_seen)
        self._total_val_batches_seen += 1

    def _write_custom_summaries(self, step, logs=None):
        """Writes results: {tag: number}."""
        results = {
            name: value.item() if isinstance(value, np.ndarray) else value for name, value in (logs or {}).items()
        }
        _add_results(self.writer, results, step)
        self.writer.flush()

    def on_batch_end(self, batch, logs=None):
        logs = logs or {}
        self._samples_seen += logs.get("size", 1)
        if self.update_freq != "epoch" and self._samples_seen - self._samples_seen_at_last_write >= self.update_freq:
            self._write_custom_summaries(self._total_batches_seen, _results(logs, "batch_"))
            self._samples_seen_at_last_write = self._samples_seen
        self._total_batches_seen += 1

    def on_epoch_begin(self, epoch, logs=None):
        if not self.histogram_freq or epoch % self.histogram_freq:
            return
        self._epoch = epoch
        self.model._make_test_function()
        function = self.model.test_function
        if not any(each is self.merged for each in function.fetches):
            function.fetches.append(self.merged)
            function.fetch_callbacks[self.merged] = self._fetch_callback

    def on_epoch_end(self, epoch, logs=None):
        # After batches have been written, epochs are numbered as these.
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        self._write_custom_summaries(step, _results(logs or {}, "epoch_"))
        if self.histogram_freq:
            function = self.model.test_function
            function.fetches = [each for each in function.fetches if each is not self.merged]
            function.fetch_callbacks.pop(self.merged, None)
        if not self.embeddings_freq:
            return
        if self.embeddings_data is None:
            raise ValueError("To visualize embeddings, embeddings_data must be provided.")
        if epoch % self.embeddings_freq == 0:
            self._save_embeddings(epoch)

    def on_train_end(self, logs=None):
        self.writer.close()


def _as_name(weight):
    return weight.name.replace(":", "_")


def _results(logs, prefix):
    return {f"{prefix}{key}": value for key, value in logs.items() if key not in NO_RESULTS}


# ---- Where the modes differ ---------------------------------------------------------------------------------------


@by_mode
def _usable_frequency(frequency):
    return frequency


@eager_version_of(_usable_frequency)
def _no_frequency(frequency):
    if frequency:
        logging.warning(
            "Weight and gradient histograms not supported for eager execution, setting `histogram_freq` to `0`."
        )
    return 0


@by_mode
def _writer_of(callback, model):
    return FileWriter(callback.log_dir, get_graph() if callback.write_graph else None)


@eager_version_of(_writer_of)
def _eager_writer_of(callback, model):
    writer = create_file_writer(callback.log_dir)
    if callback.write_graph and not model.run_eagerly:
        with writer.as_default():
            written.graph(get_graph(), step=0)
    return writer


@by_mode
def _prepare_histograms(callback, model):
    callback._make_histogram_ops(model)
    callback.merged = summaries.merge_all()


@eager_version_of(_prepare_histograms)
def _prepare_nothing(callback, model):
    pass


@by_mode
def _add_results(writer, results, step):
    for tag, value in results.items():
        summary = protobuf.message("Summary")()
        summary.value.add(tag=tag, simple_value=float(value))
        writer.add_summary(summary, step)


@eager_version_of(_add_results)
def _write_results(writer, results, step):
    with writer.as_default(), always_record_summaries():
        for name, value in results.items():
            written.scalar(name, value, step=step)

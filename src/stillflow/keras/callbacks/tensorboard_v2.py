"""The TensorBoard callback of Keras in TensorFlow 2: a folder of events for training and one for validation."""

from __future__ import annotations

import os
from pathlib import Path

from stillflow import ops
from stillflow.eager.modes import context, eager_mode
from stillflow.formats import protobuf
from stillflow.graph import dtypes
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.backend.phases import get_graph
from stillflow.keras.backend.values import get_value, int_shape
from stillflow.keras.callbacks.base import Callback
from stillflow.keras.callbacks.tensorboard import NO_RESULTS
from stillflow.keras.callbacks.weight_images import as_images, squeezed_weight
from stillflow.keras.layers.embedding import Embedding
from stillflow.names import public
from stillflow.platform import logging
from stillflow.summary import traces, written
from stillflow.summary.projector import write_config
from stillflow.summary.recording import always_record_summaries, set_step
from stillflow.summary.resource_writer import create_file_writer_v2
from stillflow.summary.tensors import keras_model
from stillflow.variables.variable import Variable

_TRAIN, _VALIDATION = "train", "validation"
_FORMER = {
    "write_grads": "`write_grads` will be ignored in TensorFlow 2.0 for the `TensorBoard` Callback.",
    "batch_size": "`batch_size` is no longer needed in the `TensorBoard` Callback and will be ignored in TensorFlow "
    "2.0.",
    "embeddings_layer_names": "`embeddings_layer_names` is not supported in TensorFlow 2.0. Instead, all "
    "`Embedding` layers will be visualized.",
    "embeddings_data": "`embeddings_data` is not supported in TensorFlow 2.0. Instead, all `Embedding` variables "
    "will be visualized.",
}


@public("contrib.keras.callbacks.TensorBoard", "compat.v2.keras.callbacks.TensorBoard")
class TensorBoard(Callback):
    """Writes the graph, the results of epochs or batches, histograms and embeddings for TensorBoard.

    While it is in use its writer, with the number of batches as the step, is the default one: summaries that layers
    write with tf.summary.write go there too, if `update_freq` is not "epoch".

    Args:
      log_dir: the folder, in which there will be "train" and "validation".
      histogram_freq: after how many epochs there are histograms of weights; 0 for none.
      write_graph: whether the graph of Keras, and the model as JSON, are written.
      write_images: whether images of weights are written with the histograms.
      update_freq: "epoch", "batch", or a number of batches after which results are written.
      profile_batch: the batch whose functions' graphs are written, in eager execution; 0 for none.
      embeddings_freq: after how many epochs weights are saved for the projector; 0 for never.
      embeddings_metadata: a file with names for the vectors, or {name of an Embedding layer: file}.
      kwargs: arguments of the former version, which are ignored with a warning.

    Raises:
      ValueError: for other arguments; when a model is set, for metadata of layers that it has not.
    """

    def __init__(
        self, log_dir="logs", histogram_freq=0, write_graph=True, write_images=False, update_freq="epoch",
        profile_batch=2, embeddings_freq=0, embeddings_metadata=None, **kwargs,
    ):  # fmt: skip
        super().__init__()
        for name, warning in _FORMER.items():
            if kwargs.get(name, False):
                logging.warning(warning)
        if unknown := set(kwargs) - set(_FORMER):
            raise ValueError(f"Unrecognized arguments in `TensorBoard` Callback: {unknown}")
        self.log_dir = log_dir
        self.histogram_freq = histogram_freq
        self.write_graph = write_graph
        self.write_images = write_images
        self.update_freq = 1 if update_freq == "batch" else update_freq
        self.embeddings_freq = embeddings_freq
        self.embeddings_metadata = embeddings_metadata
        self._train_run_name = _TRAIN
        self._validation_run_name = _VALIDATION
        self._writers: dict = {}
        self._profile_batch = profile_batch
        self._is_tracing = False
        self._chief_worker_only = True

    # ---- Before a training ----------------------------------------------------------------------------------------

    def set_model(self, model):
        self.model = model
        graph = get_graph()
        with eager_mode():
            self._close_writers()
            if self.write_graph:
                with self._get_writer(_TRAIN).as_default(), always_record_summaries():
                    if not model.run_eagerly:
                        written.graph(graph, step=0)
                    if model._is_graph_network or type(model).__name__ == "Sequential":
                        keras_model("keras", model, step=0)
        if self.embeddings_freq:
            self._configure_embeddings()
        state = context()
        self._before = state.summary_writer, state.summary_recording, state.summary_step

    def _configure_embeddings(self):
        """Writes which weights are embeddings, and their files of names."""
        config = protobuf.message("ProjectorConfig")()
        files = self.embeddings_metadata
        for layer in self.model.layers:
            if not isinstance(layer, Embedding):
                continue
            embedding = config.embeddings.add()
            embedding.tensor_name = layer.embeddings.name
            if isinstance(files, str):
                embedding.metadata_path = files
            elif files and layer.name in files:
                embedding.metadata_path = files.pop(layer.name)
        if files and not isinstance(files, str):
            raise ValueError(
                "Unrecognized `Embedding` layer names passed to `keras.callbacks.TensorBoard` `embeddings_metadata` "
                f"argument: {files.keys()}"
            )
        Path(self.log_dir).mkdir(parents=True, exist_ok=True)
        write_config(self.log_dir, config)

    # ---- Writers --------------------------------------------------------------------------------------------------

    def _close_writers(self):
        with eager_mode():
            for writer in self._writers.values():
                writer.close()
            self._writers.clear()

    def _get_writer(self, name):
        """The writer of the folder "train" or "validation", made when it is asked for."""
        if name not in self._writers:
            self._writers[name] = create_file_writer_v2(os.path.join(self.log_dir, name))  # noqa: PTH118  as given
        return self._writers[name]

    def _set_default_writer(self, name):
        """Makes that writer the default for summaries of layers, which are written as often as results."""
        if self.update_freq == "epoch":
            return
        step = self._total_batches_seen[name]
        context().summary_writer = self._get_writer(name)
        context().summary_recording = lambda: ops.equal(step % self.update_freq, 0)
        set_step(step)

    # ---- While it is trained --------------------------------------------------------------------------------------

    def on_train_begin(self, logs=None):
        self._total_batches_seen = {name: _counter() for name in (_TRAIN, _VALIDATION)}
        if self._profile_batch == 1:
            self._enable_trace()

    def on_test_begin(self, logs=None):
        if hasattr(self, "_total_batches_seen"):  # a test alone writes nothing
            self._set_default_writer(_VALIDATION)

    def on_train_batch_end(self, batch, logs=None):
        if self.update_freq == "epoch" and self._profile_batch is None:
            return
        seen = self._total_batches_seen[_TRAIN]
        if self.update_freq != "epoch" and batch % self.update_freq == 0:
            self._log_metrics(logs or {}, "batch_", seen)
        self._increment_step(_TRAIN)
        _trace_batch(self, seen)

    def on_test_batch_end(self, batch, logs=None):
        if self.update_freq != "epoch" and hasattr(self, "_total_batches_seen"):
            self._increment_step(_VALIDATION)

    def _increment_step(self, name):
        step = self._total_batches_seen[name]
        if isinstance(step, Variable):
            step.assign_add(1)
        else:
            self._total_batches_seen[name] += 1

    def on_epoch_begin(self, epoch, logs=None):
        self._set_default_writer(_TRAIN)

    def on_epoch_end(self, epoch, logs=None):
        self._log_metrics(logs or {}, "epoch_", epoch)
        if self.histogram_freq and epoch % self.histogram_freq == 0:
            self._log_weights(epoch)
        if self.embeddings_freq and epoch % self.embeddings_freq == 0:
            self._log_embeddings(epoch)

    def on_train_end(self, logs=None):
        if self._is_tracing:
            self._log_trace()
        self._close_writers()
        state = context()
        state.summary_writer, state.summary_recording, state.summary_step = self._before

    # ---- What is written ------------------------------------------------------------------------------------------

    def _enable_trace(self):
        traces.trace_on(graph=True, profiler=True)
        self._is_tracing = True

    def _log_trace(self):
        with self._get_writer(_TRAIN).as_default(), always_record_summaries():
            step = get_value(self._total_batches_seen[_TRAIN])
            traces.trace_export(f"batch_{step}", step=step, profiler_outdir=self.log_dir)
        self._is_tracing = False

    def _log_metrics(self, logs, prefix, step):
        """Writes results, those of validation into their own folder."""
        by_writer: dict = {_TRAIN: [], _VALIDATION: []}
        for name, value in logs.items():
            if name not in NO_RESULTS:
                run = _VALIDATION if name.startswith("val_") else _TRAIN
                by_writer[run].append((prefix + name.removeprefix("val_"), value))
        with eager_mode(), always_record_summaries():
            for run, results in by_writer.items():
                if results:  # there is no folder of a validation that is not done
                    with self._get_writer(run).as_default():
                        for name, value in results:
                            written.scalar(name, value, step=step)

    def _log_weights(self, epoch):
        values = [(weight.name.replace(":", "_"), get_value(weight)) for layer in self.model.layers
                  for weight in layer.weights]  # fmt: skip
        with eager_mode(), self._get_writer(_TRAIN).as_default(), always_record_summaries():
            for name, value in values:
                written.histogram(name, value, step=epoch)
                if self.write_images:
                    images = as_images(squeezed_weight(value))
                    shape = int_shape(images)
                    if len(shape) == 4 and shape[-1] in (1, 3, 4):
                        written.image(name, images, step=epoch)

    def _log_embeddings(self, epoch):
        self.model.save_weights(os.path.join(self.log_dir, _TRAIN, f"keras_embedding.ckpt-{epoch}"))  # noqa: PTH118


# ---- Where the modes differ ---------------------------------------------------------------------------------------


@by_mode
def _counter():
    """How many batches there were: a variable in eager execution, so that functions see it change."""
    return 0


@eager_version_of(_counter)
def _variable_counter():
    return Variable(0, dtype=dtypes.int64)


@by_mode
def _trace_batch(callback, seen):
    pass


@eager_version_of(_trace_batch)
def _trace_batch_now(callback, seen):
    if callback._is_tracing:
        callback._log_trace()
    elif get_value(seen) == callback._profile_batch - 1:
        callback._enable_trace()

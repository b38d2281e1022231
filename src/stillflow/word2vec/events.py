"""What TensorBoard shows of a run: loss, speed, the histogram of the vectors, the graph, and the vectors in space."""

from __future__ import annotations

import numpy as np

import stillflow as tf
from stillflow.summary.projector import write_config

# The step of which TensorBoard shows how long each operation took.
_TRACED_STEP = 100
# As many vectors as a browser can turn around.
_MOST_PROJECTED = 10_000


class Events:
    """The event file of one training run, beside its other results. Nothing here changes what is learnt."""

    def __init__(self, directory, embeddings):
        self._histogram = tf.summary.histogram("vectors", embeddings)
        self._writer = tf.summary.FileWriter(directory, tf.get_default_graph())

    def run_options(self, step):
        """(options, metadata) for session.run: both None, but for the one step that is traced."""
        if step != _TRACED_STEP:
            return None, None
        return tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), tf.RunMetadata()

    def add(self, step, loss, words_per_second, metadata):
        """Notes where training is."""
        values = {"loss": loss, "words_per_second": words_per_second or 0.0}
        self._writer.add_summary(
            tf.Summary(value=[tf.Summary.Value(tag=tag, simple_value=value) for tag, value in values.items()]), step
        )
        if metadata is not None:
            self._writer.add_run_metadata(metadata, f"step {step}", step)

    def add_vectors(self, session, step):
        """Notes how the vectors' numbers are distributed."""
        self._writer.add_summary(session.run(self._histogram), step)

    def close(self):
        self._writer.close()


def write_projector(directory, words, matrix):
    """Writes the vectors of the most frequent words, and their names, for TensorBoard's projector."""
    folder = directory / "projector"
    folder.mkdir(exist_ok=True)
    shown = min(len(words), _MOST_PROJECTED)
    np.savetxt(folder / "vectors.tsv", matrix[:shown], fmt="%.6g", delimiter="\t")
    (folder / "words.tsv").write_text("".join(f"{word}\n" for word in words[:shown]), encoding="utf-8")
    config = tf.contrib.tensorboard.plugins.projector.ProjectorConfig()
    config.embeddings.add(
        tensor_name="vectors", tensor_path="projector/vectors.tsv", metadata_path="projector/words.tsv"
    )
    write_config(directory, config)

"""Which vectors TensorBoard shows as points in space: a ProjectorConfig beside an event file."""

from __future__ import annotations

import os

from stillflow.files import filesystem
from stillflow.names import public

_CONFIG = "projector_config.pbtxt"  # the name that TensorBoard looks for


def write_config(folder, config):
    """Writes a ProjectorConfig into a folder, as text. Raises a tf.errors.OpError if it cannot."""
    from google.protobuf import text_format

    path = os.path.join(filesystem.path_text(folder), _CONFIG)  # noqa: PTH118  it may be of another system
    with filesystem.typed_errors(path):
        filesystem.write_atomically(path, text_format.MessageToString(config, as_utf8=False).encode())


@public("contrib.tensorboard.plugins.projector.visualize_embeddings")
def visualize_embeddings(summary_writer, config):
    """Writes a ProjectorConfig where TensorBoard finds it: into the folder of a FileWriter's events.

    Vectors come from the variables of a checkpoint, `config.model_checkpoint_path` or the latest one of that folder,
    or from the files that `config` names.

    Raises:
      ValueError: if the writer has no folder.
      tf.errors.OpError: if the file cannot be written.
    """
    folder = summary_writer.get_logdir()
    if folder is None:
        raise ValueError("Summary writer must have a logdir")
    write_config(folder, config)

"""tf.train.NewCheckpointReader and what is written with it: looking into checkpoints without a graph."""

from __future__ import annotations

import os
import re

from stillflow import _engine, errors
from stillflow.files import filesystem
from stillflow.graph import dtypes
from stillflow.names import public
from stillflow.saver import checkpoint_state

# Tensors of these names are stillflow's own: no variables, but what a session needs to go on exactly.
RESERVED_PREFIX = "_STILLFLOW_"


def open_checkpoint(prefix):
    """The engine's reader of a checkpoint. Raises tf.errors.OpError for what is damaged or not there."""
    try:
        return _engine.CheckpointReader(os.fsencode(prefix))
    except _engine.EngineError as error:
        raise errors.make(error.code, error.message, None) from None


@public("python.pywrap_tensorflow.CheckpointReader")
class CheckpointReader:
    """What `tf.train.NewCheckpointReader` returns."""

    def __init__(self, filename):
        self._reader = open_checkpoint(filesystem.path_text(filename))
        self._tensors = {
            name.decode("utf-8", "surrogateescape"): entry
            for name, entry in self._reader.tensors.items()
            if not name.startswith(RESERVED_PREFIX.encode())
        }

    def get_variable_to_shape_map(self):
        """{name: list of the sizes} of all tensors."""
        return {name: list(dims) for name, (_, dims, _) in self._tensors.items()}

    def get_variable_to_dtype_map(self):
        """{name: DType} of all tensors."""
        return {name: dtypes.as_dtype(number) for name, (number, _, _) in self._tensors.items()}

    def has_tensor(self, tensor_str):
        """Whether there is a tensor of the name."""
        return filesystem.path_text(tensor_str).encode("utf-8", "surrogateescape") in self._reader.tensors

    def get_tensor(self, tensor_str):
        """The value: an array, for rank 0 a numpy scalar, for a string scalar bytes.

        Raises:
          tf.errors.NotFoundError: if there is no tensor of the name.
          tf.errors.DataLossError, OutOfRangeError: if what is stored is damaged.
        """
        try:
            return self._reader.read(filesystem.path_text(tensor_str).encode("utf-8", "surrogateescape"))
        except _engine.EngineError as error:
            raise errors.make(error.code, error.message, None) from None

    def debug_string(self):
        """A line for each tensor, as bytes: its name, type and shape."""
        lines = [
            f"{name} (DT_{dtypes.as_dtype(number).name.upper()}) [{','.join(map(str, dims))}]\n"
            for name, (number, dims, _) in sorted(self._tensors.items())
        ]
        text = "".join(lines)
        for ours, theirs in (("FLOAT32", "FLOAT"), ("FLOAT64", "DOUBLE"), ("FLOAT16", "HALF")):
            text = re.sub(rf" \(DT_{ours}\) \[", f" (DT_{theirs}) [", text)
        return text.encode("utf-8", "surrogateescape")


@public("train.NewCheckpointReader")
def NewCheckpointReader(filepattern):  # noqa: N802
    """A reader of the checkpoint with that prefix, or of the V1 files that match it.

    Raises:
      tf.errors.NotFoundError: if there are none.
      tf.errors.DataLossError: if they are damaged, or something else.
    """
    return CheckpointReader(filepattern)


@public("train.load_checkpoint", "contrib.framework.load_checkpoint")
def load_checkpoint(ckpt_dir_or_file):
    """A reader of a checkpoint, or of the newest one of a folder. Raises ValueError if the folder has none."""
    path = filesystem.path_text(ckpt_dir_or_file)
    if os.path.isdir(path):
        path = checkpoint_state.latest_checkpoint(path)
    if path is None:
        raise ValueError(
            "Couldn't find 'checkpoint' file or checkpoints in given directory "
            f"{filesystem.path_text(ckpt_dir_or_file)}"
        )
    return NewCheckpointReader(path)


@public("train.load_variable", "contrib.framework.load_variable")
def load_variable(ckpt_dir_or_file, name):
    """The value of a variable in a checkpoint; `name` may end in ":0". Raises tf.errors.NotFoundError."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))


@public("train.list_variables", "contrib.framework.list_variables")
def list_variables(ckpt_dir_or_file):
    """[(name, list of the sizes)] of the variables in a checkpoint, by name."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())

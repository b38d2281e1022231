"""Files of weights."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

from stillflow import errors
from stillflow.files import filesystem
from stillflow.graph.mode import by_mode, eager_version_of
from stillflow.keras.backend.phases import get_session
from stillflow.names import public
from stillflow.platform import logging
from stillflow.saver import checkpoint_state
from stillflow.saver.checkpoint_reader import open_checkpoint
from stillflow.saver.objects.checkpoint import ObjectSaver
from stillflow.tracking.base import Trackable


def is_hdf5(path):
    """Whether a path is that of an HDF5 file."""
    return path.endswith((".h5", ".keras", ".hdf5"))


@by_mode
def _session():
    return get_session()


@eager_version_of(_session)
def _no_session():
    return None


class WeightFiles:
    """An object whose weights can be written to files, and read from them."""

    optimizer: Any
    layers: Any
    built: Any
    _is_graph_network: Any
    _assert_weights_created: Any

    @property
    def _object_saver(self):
        saver = self.__dict__.get("_trackable_saver")
        if saver is None:
            saver = self.__dict__["_trackable_saver"] = ObjectSaver(weakref.ref(self))
        return saver

    def save_weights(self, filepath, overwrite=True, save_format=None):
        """Writes the weights to a file.

        Args:
          filepath: the path. One that ends in ".h5" or ".keras" means HDF5, else it is a checkpoint as
            tf.train.Checkpoint writes it.
          overwrite: whether a file may be there; otherwise the user is asked.
          save_format: "tf" or "h5", if the path is not to decide.

        Raises:
          ImportError: for HDF5, without h5py.
          ValueError: for another format, or one that the path contradicts.
        """
        self._assert_weights_created()
        save_format = _format(filepath, save_format)
        if save_format == "h5":
            from stillflow.keras.saving import hdf5

            h5py = hdf5.require("`save_weights` requires h5py when saving in hdf5.")
        written = filepath + ".index" if save_format == "tf" else filepath
        if not overwrite and Path(written).is_file() and not ask_to_overwrite(written):
            return
        if save_format == "h5":
            with h5py.File(filepath, "w") as file:
                hdf5.save_weights(file, self.layers)
            return
        optimizer = getattr(self, "optimizer", None)
        if optimizer and not isinstance(optimizer, Trackable):
            logging.warning(
                f"This model was compiled with a Keras optimizer ({optimizer}) but is being saved in TensorFlow "
                "format "
                "with `save_weights`. The model's weights will be saved, but unlike with TensorFlow optimizers in "
                "the "
                "TensorFlow format the optimizer's state will not be saved.\n\nConsider using a TensorFlow optimizer "
                "from `tf.train`."
            )
        self._object_saver.save(filepath, _session())
        checkpoint_state.write_state(str(Path(filepath).parent), filepath, [filepath], save_relative_paths=True)

    def load_weights(self, filepath, by_name=False):
        """Reads the weights from a file that `save_weights` has written.

        Args:
          filepath: the path.
          by_name: whether layers are found by their names, instead of their order; only of an HDF5 file.

        Returns:
          The status of the restoration, of a checkpoint; see tf.train.Checkpoint.

        Raises:
          ImportError: for HDF5, without h5py.
          NotImplementedError: to load by names from a checkpoint.
          ValueError: if weights do not fit.
        """
        if not is_hdf5(filepath) and _is_checkpoint(filepath):
            status = self._object_saver.restore(filepath)
            if by_name:
                raise NotImplementedError(
                    "Weights may only be loaded based on topology into Models when loading TensorFlow-formatted "
                    "weights (got by_name=True to load_weights)."
                )
            _restore_now(status)
            status.assert_nontrivial_match()
            return status
        from stillflow.keras.saving import hdf5

        h5py = hdf5.require("`load_weights` requires h5py when loading weights from HDF5.")
        if self._is_graph_network and not self.built:
            raise NotImplementedError(
                "Unable to load weights saved in HDF5 format into a subclassed Model which has not created its "
                "variables yet. Call the Model first, then load the weights."
            )
        self._assert_weights_created()
        with h5py.File(filepath, "r") as file:
            group = file["model_weights"] if "layer_names" not in file.attrs and "model_weights" in file else file
            load = hdf5.load_weights_by_name if by_name else hdf5.load_weights
            load(group, self.layers)
        return None


def _format(filepath, save_format):
    if save_format is None:
        return "h5" if is_hdf5(filepath) else "tf"
    found = save_format.lower().strip()
    if found in ("hdf5", "h5", "keras"):
        return "h5"
    if found not in ("tensorflow", "tf"):
        raise ValueError(f'Unknown format "{save_format}". Was expecting one of {{"tf", "h5"}}.')
    if is_hdf5(filepath):
        raise ValueError(
            f'save_weights got save_format="tf"/"tensorflow", but the filepath ("{filepath}") looks like an HDF5 '
            "file. "
            'Omit the ".h5"/".keras" when saving in TensorFlow format.'
        )
    return "tf"


def _is_checkpoint(path):
    """Whether there is a checkpoint of that path. Raises tf.errors.NotFoundError if there is no file at all."""
    try:
        open_checkpoint(filesystem.path_text(path))
    except errors.DataLossError:
        return False
    return True


@public("python.keras.utils.io_utils.ask_to_proceed_with_overwrite")
def ask_to_overwrite(path):
    """Asks the user whether a file may be overwritten."""
    answer = input(f"[WARNING] {path} already exists - overwrite? [y/n]").strip().lower()
    while answer not in ("y", "n"):
        answer = input('Enter "y" (overwrite) or "n" (cancel).').strip().lower()
    if answer == "n":
        return False
    print("[TIP] Next time specify overwrite=True!")
    return True


@by_mode
def _restore_now(status):
    """Runs what a restoration has to run, now and as objects come."""
    if not hasattr(status, "run_restore_ops_from_now_on"):
        raise NotImplementedError(
            "Streaming restore not supported from name-based checkpoints when graph building. File a feature request "
            "if this limitation bothers you. As a workaround, consider either using tf.train.Checkpoint to load "
            "name-based checkpoints or enabling eager execution."
        )
    status.run_restore_ops_from_now_on(get_session())


@eager_version_of(_restore_now)
def _restored_already(status):
    """Values have been restored as objects were found."""

"""Whole models in files: HDF5 files, and SavedModels."""

from __future__ import annotations

import os

from stillflow.files import filesystem
from stillflow.keras.engine.sequential import Sequential
from stillflow.keras.saving import hdf5, hdf5_models, revived, saved_layers
from stillflow.names import public
from stillflow.platform import tf2

_HDF5_EXTENSIONS = (".h5", ".hdf5", ".keras")


@public("keras.models.save_model", "python.keras.saving.save.save_model")
def save_model(model, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
    """Writes a model to an HDF5 file or a SavedModel, from which `load_model` makes it again.

    Args:
      model: a model with its variables made; for HDF5 one that is not subclassed.
      filepath: the path of the file, or of the SavedModel's folder; for HDF5 also an h5py.File.
      overwrite: whether something may be there; otherwise the user is asked.
      include_optimizer: whether the state of the training is written, too.
      save_format: "h5", or "tf" for a SavedModel, which is the default after tf.enable_v2_behavior. A path that ends
        in ".h5", ".hdf5" or ".keras" is that of an HDF5 file in any case.
      signatures: of SavedModels; see tf.saved_model.save.

    Raises:
      ImportError: for HDF5, without h5py.
      NotImplementedError: for HDF5, with a subclassed model.
      ValueError: for a SavedModel, with a model that does not know its inputs.
    """
    is_path = isinstance(filepath, (str, bytes, os.PathLike))
    path = filesystem.path_text(filepath) if is_path else ""
    if save_format is None:
        save_format = "tf" if tf2.enabled() else "h5"
    if is_path and save_format != "h5" and os.path.splitext(path)[1] not in _HDF5_EXTENSIONS:
        saved_layers.save(model, path, overwrite, include_optimizer, signatures)
        return
    hdf5.require("`save_model` requires h5py.")
    if not model._is_graph_network and not isinstance(model, Sequential):
        raise NotImplementedError(
            "Saving the model to HDF5 format requires the model to be a Functional model or a Sequential model. It "
            "does not work for subclassed models, because such models are defined via the body of a Python method, "
            "which isn't safely serializable. Consider saving to the Tensorflow SavedModel format (by setting "
            'save_format="tf") or using `save_weights`.'
        )
    hdf5_models.save_model_to_hdf5(model, path if is_path else filepath, overwrite, include_optimizer)


@public("keras.models.load_model", "python.keras.saving.save.load_model")
def load_model(filepath, custom_objects=None, compile=True):
    """The model of an HDF5 file or a SavedModel that `save_model` has written.

    Args:
      filepath: the path of the file, or of the folder; or an h5py.File.
      custom_objects: {name: class or function} of the program's own, for HDF5.
      compile: whether the model is compiled as it was. The state of the training comes from HDF5 files only.

    Raises:
      ImportError: for HDF5, without h5py.
      OSError: if there is neither, or the file is damaged.
      ValueError: if there is no model in the file.
    """
    is_path = isinstance(filepath, (str, bytes, os.PathLike))
    path = filesystem.path_text(filepath) if is_path else filepath
    if not is_path or os.path.isfile(path):
        return hdf5_models.load_model_from_hdf5(path, custom_objects, compile)
    return revived.load(path, compile)

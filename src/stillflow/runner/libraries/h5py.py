"""h5py 2: files opened without a mode, Dataset.value, File.fid, and texts that were bytes."""

from __future__ import annotations

import functools
import os

import numpy as np


class _Text(str):
    """A text of an HDF5 file, which was bytes once."""

    def decode(self, encoding="utf-8", errors="strict"):
        """The text itself."""
        return str(self)


def restore(h5py):
    """Dataset.value (all that is in the file), File.fid, texts in attributes to decode, and new files by default."""
    if not hasattr(h5py.Dataset, "value"):
        h5py.Dataset.value = property(lambda dataset: dataset[()])
    if not hasattr(h5py.File, "fid"):
        h5py.File.fid = property(lambda file: file.id)
    get_item = h5py.AttributeManager.__getitem__

    def get_text_to_decode(attributes, name):
        value = get_item(attributes, name)
        if isinstance(value, np.ndarray) and value.dtype == object:
            return np.array([_Text(each) for each in value.flat], object).reshape(value.shape)
        return _Text(value) if type(value) is str else value

    h5py.AttributeManager.__getitem__ = get_text_to_decode
    h5py.File.__init__ = _write_by_default(h5py.File.__init__)


def _write_by_default(init):
    @functools.wraps(init)
    def init_for_writing(self, name, mode=None, *args, **kwargs):
        if mode is None and isinstance(name, str | os.PathLike):
            mode = "r" if os.path.exists(name) and not os.access(name, os.W_OK) else "a"
        init(self, name, mode or "r", *args, **kwargs)

    return init_for_writing

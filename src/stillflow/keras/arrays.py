"""Arrays made ready for models: classes as rows, rows of length 1, and matrices that stay in their file."""

from __future__ import annotations

from typing import Any

import numpy as np

from stillflow.names import public


@public("keras.utils.to_categorical")
def to_categorical(y, num_classes=None, dtype="float32"):
    """Rows that are 1 at the number of a class, and 0 elsewhere.

    Args:
      y: numbers of classes, from 0. A last axis of size 1 is dropped.
      num_classes: how many classes there are; by default the greatest number and one.
      dtype: the type of the array.
    """
    classes = np.array(y, dtype="int")
    shape = classes.shape
    if len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    classes = classes.ravel()
    count = num_classes or np.max(classes) + 1
    rows = np.zeros((len(classes), count), dtype=dtype)
    rows[np.arange(len(classes)), classes] = 1
    return rows.reshape((*shape, count))


@public("keras.utils.normalize")
def normalize(x, axis=-1, order=2):
    """x divided by its norm along an axis, where that is not 0.

    Args:
      x: an array.
      axis: the axis.
      order: which norm; see numpy.linalg.norm.
    """
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis)


@public("keras.utils.HDF5Matrix")
class HDF5Matrix:
    """Rows of a data set in an HDF5 file, which are read when they are asked for. Needs h5py.

    Args:
      datapath: the file.
      dataset: the data set's name.
      start, end: the first row, and that before which to end.
      normalizer: a function that rows are passed through.

    Raises:
      ImportError: without h5py.
    """

    refs: dict = {}

    def __init__(self, datapath, dataset, start=0, end=None, normalizer=None):
        try:
            import h5py
        except ImportError:
            raise ImportError("The use of HDF5Matrix requires HDF5 and h5py installed.") from None
        if datapath not in self.refs:
            self.refs[datapath] = h5py.File(datapath, "r")
        self.data: Any = self.refs[datapath][dataset]
        self.start = start
        self.end = self.data.shape[0] if end is None else end
        self.normalizer = normalizer

    def __len__(self):
        return self.end - self.start

    def __getitem__(self, key):
        """Rows by number, slice or numbers. Raises IndexError beyond the end."""
        if isinstance(key, slice):
            start, stop = key.start or 0, self.shape[0] if key.stop is None else key.stop
            last, key = stop + self.start - 1, slice(start + self.start, stop + self.start)
        elif isinstance(key, (int, np.integer)):
            last = key = key + self.start
        else:
            key = [int(row) + self.start for row in key]
            last = max(key)
        if last >= self.end:
            raise IndexError
        rows = self.data[key]
        return rows if self.normalizer is None else self.normalizer(rows)

    @property
    def shape(self):
        """The shape, of these rows."""
        return (self.end - self.start, *self.data.shape[1:])

    @property
    def dtype(self):
        """The type of elements."""
        return self.data.dtype

    @property
    def ndim(self):
        """The rank."""
        return self.data.ndim

    @property
    def size(self):
        """The number of elements."""
        return np.prod(self.shape)

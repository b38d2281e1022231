"""RaggedTensorValue: what a session returns for a ragged tensor."""

from __future__ import annotations

import itertools

import numpy as np

from stillflow.names import public
from stillflow.ragged.levels import Levels


@public("ragged.RaggedTensorValue", "python.ops.ragged.ragged_tensor_value.RaggedTensorValue")
class RaggedTensorValue(Levels):
    """Rows of different lengths: row i is values[row_splits[i]:row_splits[i + 1]].

    Args:
      values: an array, or another RaggedTensorValue.
      row_splits: an int32 or int64 vector.

    Raises:
      TypeError: for values or splits of other types.
      ValueError: if the values are ragged and their splits are of another type.
    """

    def __init__(self, values, row_splits):
        is_vector = isinstance(row_splits, (np.ndarray, np.generic)) and row_splits.ndim == 1
        if not (is_vector and row_splits.dtype in (np.int64, np.int32)):
            raise TypeError("row_splits must be a 1D int32 or int64 numpy array")
        if not isinstance(values, (np.ndarray, np.generic, RaggedTensorValue)):
            raise TypeError("values must be a numpy array or a RaggedTensorValue")
        if isinstance(values, RaggedTensorValue) and row_splits.dtype != values.row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits

    @property
    def dtype(self):
        """The numpy type of the values."""
        return self._values.dtype

    @property
    def shape(self):
        """The sizes, with None for those of ragged dimensions."""
        return (self._row_splits.shape[0] - 1, None, *self._values.shape[1:])

    def to_list(self):
        """Lists of Python values, nested as the rows are."""
        values = self._values
        items = values.to_list() if isinstance(values, RaggedTensorValue) else values.tolist()
        return [items[begin:end] for begin, end in itertools.pairwise(self._row_splits.tolist())]

    def __str__(self):
        return f"<tf.RaggedTensorValue {self.to_list()}>"

    def __repr__(self):
        return f"tf.RaggedTensorValue(values={self._values!r}, row_splits={self._row_splits!r})"

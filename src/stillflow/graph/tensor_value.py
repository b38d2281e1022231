"""TensorValue: a constant's dtype, shape and values."""

from __future__ import annotations

import numpy as np

from stillflow.graph import dtypes


class TensorValue:
    """What a TensorProto holds. `values` is flat and may be shorter than the shape: the last one repeats.

    `is_listed` says that the message has the values in a field of their type even where they could be raw bytes.
    """

    __slots__ = ("_array", "dims", "dtype", "is_listed", "values")

    def __init__(self, dtype, dims, values, is_listed=False):
        self.dtype = dtype
        self.dims = tuple(dims)
        self.values = values
        self.is_listed = is_listed
        self._array = None

    @property
    def element_count(self) -> int:
        count = 1
        for size in self.dims:
            count *= size
        return count

    def array(self) -> np.ndarray:
        """The value in full; not to be written to."""
        if self._array is None:
            count = self.element_count
            flat = self.values
            if len(flat) < count:
                filler = flat[-1] if len(flat) else _zero(self.dtype)
                full = np.empty(count, flat.dtype)
                full[: len(flat)] = flat
                full[len(flat) :] = filler
                flat = full
            self._array = flat.reshape(self.dims)
            self._array.flags.writeable = False
        return self._array

    def key(self):
        """Something hashable that is equal for equal constants."""
        values = tuple(self.values) if self.dtype is dtypes.string else self.values.tobytes()
        return self.dtype, self.dims, values

    def __eq__(self, other):
        return self.key() == other.key() if isinstance(other, TensorValue) else NotImplemented

    def __hash__(self):
        return hash(self.key())

    def __repr__(self):
        return f"TensorValue({self.dtype.name}, {self.dims}, {self.values[:4]}...)"


def _zero(dtype):
    return b"" if dtype is dtypes.string else 0

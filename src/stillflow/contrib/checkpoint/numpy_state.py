"""NumpyState: an object whose attributes are numpy arrays that checkpoints have."""

from __future__ import annotations

import io

import numpy as np

from stillflow.names import public
from stillflow.saver.objects.python_state import PythonState
from stillflow.tracking.base import Trackable


class _Array(PythonState):
    """One array, in checkpoints the bytes of a .npy file."""

    def __init__(self, array):
        self.array = array

    def serialize(self):
        content = io.BytesIO()
        np.save(content, self.array, allow_pickle=False)
        return content.getvalue()

    def deserialize(self, string_value):
        self.array = np.load(io.BytesIO(string_value), allow_pickle=False)


@public("contrib.checkpoint.NumpyState")
class NumpyState(Trackable):
    """Holds numpy arrays as attributes, which tf.train.Checkpoint saves and restores.

    `restore` makes the attributes that the saved object had, and does so itself, also while graphs are built.
    """

    def __getattribute__(self, name):
        value = super().__getattribute__(name)
        return value.array if isinstance(value, _Array) else value

    def __setattr__(self, name, value):
        """Takes an array or a numpy scalar. Raises NotImplementedError for what is neither."""
        if not isinstance(value, (np.ndarray, np.generic)):
            raise NotImplementedError(
                f"Assigned {value} to the {name} property of {self}, which is not a NumPy array. Currently mixing "
                "NumPy arrays and other trackable objects is not supported. File a feature request if this "
                "limitation bothers you."
            )
        held = self.__dict__.get(name)
        if held is None:
            self._hold(name, _Array(value))
        else:
            held.array = value

    def _hold(self, name, array):
        super().__setattr__(name, array)
        self._track_trackable(array, name=name)

    def _defer(self, name, position):
        """Makes the attribute that a checkpoint has, and restores it."""
        super()._defer(name, position)
        self._hold(name, _Array(np.array([])))

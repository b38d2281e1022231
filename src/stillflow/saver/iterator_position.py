"""IteratorPosition: where an iterator is, as one value of a checkpoint of objects."""

from __future__ import annotations

from typing import Any

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.saver.saveable import SaveableObject, SaveSpec


class IteratorPosition(SaveableObject):
    """The position of an iterator of an eager graph: a string scalar, which only stillflow reads."""

    def __init__(self, handle, name):
        graph: Any = get_default_graph()
        self._states = graph.compiled
        spec = SaveSpec(
            lambda: ops.constant(self._states.state_of(handle._op), dtypes.string), "", name, dtypes.string, "/cpu:0"
        )
        super().__init__(handle, [spec], name)

    @property
    def optional_restore(self):
        return True

    def restore(self, restored_tensors, restored_shapes):
        """Makes the iterator go on there. Raises FailedPreconditionError for a position in another pipeline."""
        (position,) = restored_tensors
        self._states.restore_state(self.op._op, position.numpy())

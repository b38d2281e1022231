"""tf.train.experimental.PythonState: values of objects in checkpoints that no tensor holds, as bytes."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import NamedTuple

from stillflow import ops
from stillflow.graph import dtypes
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.name_scope import init_scope
from stillflow.names import public
from stillflow.ops.convert import convert_to_tensor
from stillflow.saver.saveable import SaveableObject, SaveSpec
from stillflow.tracking.base import Trackable


class TextSaveable(SaveableObject):
    """A string scalar that is written under a key; to restore it is not a graph's business."""

    def __init__(self, tensor, key):
        super().__init__(tensor, [SaveSpec(tensor, "", key)], key)

    def restore(self, restored_tensors, restored_shapes):
        return ops.no_op()


def _text(value):
    with get_default_graph().device("/cpu:0"):
        return convert_to_tensor(value, dtypes.string)


def frozen_text(value, key):
    """The saveable of bytes that stay as they are."""
    return TextSaveable(_text(value), key)


class PythonValue(NamedTuple):
    """A value of an object: `serialize` returns it as bytes, `deserialize` takes them back."""

    serialize: Callable[[], bytes]
    deserialize: Callable[[bytes], None]

    def __call__(self, name):
        """The saveable of what it is now."""
        return frozen_text(self.now(), name)

    def now(self):
        with init_scope():
            return self.serialize()


class FedText(TextSaveable):
    """A PythonValue whose bytes are fed when they are written, so that further checkpoints add no nodes.

    `tensors` is {key: the tensor that is fed}, where the saveables of all checkpoints keep them.
    """

    def __init__(self, value, key, tensors):
        if key not in tensors:
            tensors[key] = _text("")
        super().__init__(tensors[key], key)
        self.value = value


@public("train.experimental.PythonState", "contrib.checkpoint.PythonStateWrapper")
class PythonState(Trackable, metaclass=abc.ABCMeta):
    """An object in Python that tf.train.Checkpoint saves and restores: subclasses say how it becomes bytes.

    It is restored by `restore` itself, also while graphs are built.
    """

    @abc.abstractmethod
    def serialize(self):
        """The state as bytes or str."""

    @abc.abstractmethod
    def deserialize(self, string_value):
        """Takes the state from the bytes that `serialize` has returned."""

    def _gather_saveables_for_checkpoint(self):
        return {"py_state": PythonValue(self.serialize, self.deserialize)}

"""split_dependency: tensors that one function makes, or takes, and that checkpoints have under several objects."""

from __future__ import annotations

import functools

from stillflow import ops
from stillflow.names import public
from stillflow.saver.saveable import SaveableObject, SaveSpec
from stillflow.tracking.base import Trackable


@public("contrib.checkpoint.split_dependency")
def split_dependency(component_names, component_dtypes, fill_save_buffer_fn, consume_restore_buffer_fn, device):
    """Objects that checkpoints have as if they were variables, and that are saved and restored together.

    Args:
      component_names: the names of the objects.
      component_dtypes: the types of their tensors.
      fill_save_buffer_fn: a function that adds {name: tensor} to the dictionary that it is given: what to save.
      consume_restore_buffer_fn: a function of {name: restored tensor} that returns an operation which takes them; it
        may return None in eager execution.
      device: where they are saved and restored.

    Returns:
      {name: Trackable}. What depends on one of them has to depend on all.

    Raises AssertionError when only some of them are saved or restored.
    """
    group = _Group(len(component_names), fill_save_buffer_fn, consume_restore_buffer_fn)
    return {
        name: _Component(group, name, dtype, device)
        for name, dtype in zip(component_names, component_dtypes, strict=True)
    }


class _Group:
    """What the objects of one call share."""

    def __init__(self, count, fill, consume):
        self._count = count
        self._fill = fill
        self._consume = consume
        self._to_save: dict = {}
        self._restored: dict = {}

    def tensor_to_save(self, name):
        """The tensor of one object; the function is asked for all when the first is wanted."""
        if name not in self._to_save:
            if self._to_save:
                raise self._unsynchronized(name, "saved")
            self._fill(self._to_save)
        return self._to_save.pop(name)

    def take(self, name, tensor):
        """An operation that restores one object; that of the last one restores all."""
        if name in self._restored:
            raise self._unsynchronized(name, "restored")
        self._restored[name] = tensor
        if len(self._restored) < self._count:
            return ops.no_op()
        restored, self._restored = self._restored, {}
        return self._consume(restored)

    @staticmethod
    def _unsynchronized(name, what):
        return AssertionError(f"Split dependency {name} unsynchronized. Split dependencies must be {what} together.")


class _Saveable(SaveableObject):
    """One object under a key of a checkpoint."""

    def __init__(self, name, component):
        tensor = functools.partial(component.group.tensor_to_save, component.name)
        super().__init__(tensor, [SaveSpec(tensor, "", name, component.dtype, component.device)], name)
        self._component = component

    def restore(self, restored_tensors, restored_shapes):
        (tensor,) = restored_tensors
        return self._component.group.take(self._component.name, tensor)


class _Component(Trackable):
    def __init__(self, group, name, dtype, device):
        self.group = group
        self.name = name
        self.dtype = dtype
        self.device = device

    def _gather_saveables_for_checkpoint(self):
        return {"VARIABLE_VALUE": functools.partial(_Saveable, component=self)}

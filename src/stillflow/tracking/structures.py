"""Objects that track what they are given as attributes, and the lists and dicts that they turn theirs into."""

from __future__ import annotations

import collections
import contextlib
import operator
from typing import Any

from stillflow.names import public
from stillflow.tracking.base import TracedFunction, Trackable
from stillflow.tracking.revived_types import VersionedTypeRegistration, register_revived_type
from stillflow.tracking.weights import HoldsWeights


@public("contrib.checkpoint.NoDependency", "python.training.tracking.data_structures.NoDependency")
class NoDependency:
    """Wraps a value that is assigned to an attribute without being tracked; the attribute is the value itself."""

    def __init__(self, value):
        self.value = value


def tracked(owner, name, value):
    """What to keep for a value that an object gets by that name: itself, or a list or dict that tracks its contents.

    The object comes to depend on it, if it can be tracked.
    """
    if isinstance(value, NoDependency):
        return value.value
    value = _wrapped(value)
    if isinstance(value, Trackable):
        owner._track_trackable(value, name=name, overwrite=True)
    return value


def _wrapped(value):
    wrapper = _WRAPPERS.get(type(value))
    return value if wrapper is None else wrapper(value)


_NOTHING = object()


@public("python.training.tracking.tracking.AutoTrackable")
@public("contrib.eager.Checkpointable", "contrib.checkpoint.Checkpointable")
class AutoTrackable(Trackable):
    """An object that depends on the trackable objects, lists and dicts among its attributes."""

    def __setattr__(self, name, value):
        if getattr(self, name, _NOTHING) is value:  # of a property without a setter, too
            return
        super().__setattr__(name, tracked(self, name, value))

    def __delattr__(self, name):
        self._tracking.children.pop(name, None)
        super().__delattr__(name)

    def _no_dependency(self, value):
        return NoDependency(value)

    def _list_functions_for_serialization(self, serialization_cache):
        """The functions of tensors among the attributes; attributes that cannot be read have none."""
        functions = {}
        for name in dir(self):
            with contextlib.suppress(Exception):  # a property of a program may fail for any reason of its own
                value = getattr(self, name)
                if isinstance(value, TracedFunction):
                    functions[name] = value
        return functions


class _Structure(HoldsWeights, Trackable):
    """A list or dict that tracks what is in it."""

    @property
    def _checkpoint_dependencies(self):
        self._check_is_saveable()
        return super()._checkpoint_dependencies

    def _check_is_saveable(self):
        raise NotImplementedError

    def _items(self):
        """[(name, value)] of what is in it."""
        raise NotImplementedError

    def _list_functions_for_serialization(self, serialization_cache):
        return {name: value for name, value in self._items() if isinstance(value, TracedFunction)}

    def _unsaveable(self, kind, reason):
        return ValueError(
            f"Unable to save the object {self!r} (a {kind} wrapper constructed to track trackable TensorFlow "
            f"objects). {reason} If this {kind} need not be saved, wrap it in a NoDependency object when assigning "
            "it."
        )


@public("python.training.tracking.data_structures.ListWrapper")
class ListWrapper(_Structure, list):
    """A list whose elements are saved under their positions. It may grow; after other changes it cannot be saved.

    The list that it was made of goes on having the same elements.
    """

    def __init__(self, original=()):
        super().__init__()
        self._original = original if type(original) is list else list(original)
        self._has_moved = False
        for index, value in enumerate(self._original):
            list.append(self, tracked(self, str(index), value))
        self._original[:] = self

    def _held(self):
        return list(self)

    def _items(self):
        return [(str(index), value) for index, value in enumerate(self)]

    def _check_is_saveable(self):
        if self._has_moved:
            raise self._unsaveable(
                "list",
                "A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, __delslice__), or "
                "moved (sort), but elements are found again by their positions.",
            )
        if len(self) != len(self._original) or any(a is not b for a, b in zip(self, self._original, strict=True)):
            raise self._unsaveable(
                "list", f"The wrapped list was modified outside the wrapper: it is {self._original!r} now."
            )

    def _changed(self):
        """Other changes than growth end the list's being saveable, if anything in it is tracked."""
        self._has_moved = True
        self._original[:] = self

    def append(self, value):
        value = tracked(self, str(len(self)), value)
        list.append(self, value)
        self._original.append(value)

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def __iadd__(self, values):  # type: ignore[misc]
        self.extend(values)
        return self

    def __imul__(self, count):  # type: ignore[misc]
        if count <= 0:
            list.clear(self)
            self._changed()
        else:
            self.extend(list(self) * (count - 1))
        return self

    def __setitem__(self, key, value):
        positions = range(len(self))[key]
        if isinstance(positions, int):
            if isinstance(self[positions], Trackable) and self[positions] is not value:
                self._has_moved = True
            value = tracked(self, str(positions), value)
            list.__setitem__(self, positions, value)
            self._original[:] = self
            return
        before = list(self)
        list.__setitem__(self, key, value)
        for index, item in enumerate(self):
            if index >= len(before) or item is not before[index]:
                list.__setitem__(self, index, tracked(self, str(index), item))
        self._has_moved |= any(isinstance(item, Trackable) for item in before)
        self._original[:] = self

    def __delitem__(self, key):
        list.__delitem__(self, key)
        self._changed()

    def insert(self, index, value):
        if index >= len(self):
            self.append(value)
            return
        list.insert(self, index, value)
        self._changed()

    def pop(self, index=-1):
        value = list.pop(self, index)
        self._changed()
        return value

    def remove(self, value):
        list.remove(self, value)
        self._changed()

    def clear(self):
        list.clear(self)
        self._changed()

    def sort(self, *, key=None, reverse=False):
        list.sort(self, key=key, reverse=reverse)
        self._changed()

    def reverse(self):
        list.reverse(self)
        self._changed()

    def copy(self):
        return ListWrapper(list(self))

    __copy__ = copy

    def __reduce_ex__(self, protocol):
        return ListWrapper, (list(self),)

    def __repr__(self):
        return f"ListWrapper({list(self)!r})"


@public("python.training.tracking.data_structures._DictWrapper")
class DictWrapper(_Structure, dict):
    """A dict whose values are saved under their keys, which have to be strings.

    The dict that it was made of goes on having the same items.
    """

    def __init__(self, original=None):
        super().__init__()
        self._original = original if isinstance(original, dict) else dict(original or ())
        self._has_other_keys = False
        for key, value in list(self._original.items()):
            self[key] = value

    def _held(self):
        return list(self.values())

    def _items(self):
        return list(self.items())

    def _check_is_saveable(self):
        if self._has_other_keys:
            raise self._unsaveable("dictionary", "A non-string key maps to an object with state.")
        if self.keys() != self._original.keys() or any(self[key] is not self._original[key] for key in self):
            raise self._unsaveable(
                "dictionary",
                f"The wrapped dictionary was modified outside the wrapper: it is {self._original!r} now.",
            )

    def __setitem__(self, key, value):
        if isinstance(key, str):
            value = tracked(self, key, value)
        else:
            is_dependency = not isinstance(value, NoDependency)
            value = _wrapped(value) if is_dependency else value.value
            self._has_other_keys |= is_dependency and isinstance(value, Trackable)
        dict.__setitem__(self, key, value)
        self._original[key] = value

    def update(self, *args, **kwargs):
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other):  # type: ignore[misc]
        self.update(other)
        return self

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def _forget(self, key):
        self._tracking.children.pop(key, None)
        self._original.pop(key, None)

    def __delitem__(self, key):
        dict.__delitem__(self, key)
        self._forget(key)

    def pop(self, key, *default):
        is_there = key in self
        value = dict.pop(self, key, *default)
        if is_there:
            self._forget(key)
        return value

    def popitem(self):
        key, value = dict.popitem(self)
        self._forget(key)
        return key, value

    def clear(self):
        for key in list(self):
            del self[key]

    def copy(self):
        return DictWrapper(dict(self))

    __copy__ = copy

    def __reduce_ex__(self, protocol):
        return DictWrapper, (dict(self),)

    def __repr__(self):
        return f"DictWrapper({dict(self)!r})"


def _set_item_of_list(wrapper, index, value):
    """Puts a value at a position, a text, of a list that may be shorter."""
    wrapper.extend([None] * (1 + int(index) - len(wrapper)))
    wrapper[int(index)] = value


register_revived_type(
    "trackable_dict_wrapper",
    lambda value: isinstance(value, DictWrapper),
    [VersionedTypeRegistration(lambda proto: DictWrapper({}), 1, 1, 1, setter=operator.setitem)],
)
register_revived_type(
    "trackable_list_wrapper",
    lambda value: isinstance(value, ListWrapper),
    [VersionedTypeRegistration(lambda proto: ListWrapper([]), 1, 1, 1, setter=_set_item_of_list)],
)

_WRAPPERS: dict[Any, Any] = {list: ListWrapper, dict: DictWrapper, collections.OrderedDict: DictWrapper}

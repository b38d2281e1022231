"""tf.contrib.checkpoint.List and Mapping: a list and a dictionary that only grow."""

from __future__ import annotations

import collections.abc
import copy
import itertools

from stillflow.names import public
from stillflow.tracking.base import Trackable
from stillflow.tracking.structures import tracked
from stillflow.tracking.weights import HoldsWeights


@public("python.training.tracking.data_structures.TrackableDataStructure")
class TrackableDataStructure(HoldsWeights, Trackable):
    """What List and Mapping have in common: they compare and hash by identity."""

    def _track_value(self, value, name):
        """The value as it is kept. Raises ValueError for what is not trackable."""
        value = tracked(self, name, value)
        if not isinstance(value, Trackable):
            raise ValueError(
                "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got "
                f"{value}, which does not inherit from Trackable."
            )
        if hasattr(value, "_use_resource_variables"):
            value._use_resource_variables = True
        return value

    def __hash__(self):
        return id(self)

    def __eq__(self, other):
        return self is other


@public("contrib.checkpoint.List")
class List(TrackableDataStructure, collections.abc.Sequence):
    """A list of trackable objects that can only be appended to; they are saved under their positions."""

    def __init__(self, *args, **kwargs):
        """Arguments are those of `list`. Raises ValueError for what is not trackable."""
        self._storage: list = []
        self.extend(list(*args, **kwargs))

    def _held(self):
        return self._storage

    def append(self, value):
        """Adds a trackable object."""
        self._storage.append(self._track_value(value, str(len(self._storage))))

    def extend(self, values):
        """Adds trackable objects."""
        for value in values:
            self.append(value)

    def copy(self):
        """A List of the same objects."""
        return type(self)(self._storage)

    __copy__ = copy

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self._storage, memo))

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, other):
        return type(self)(self._storage + getattr(other, "_storage", other))

    def __radd__(self, other):
        return type(self)(other) + self

    def __imul__(self, y):
        if y <= 0:
            raise ValueError(f"List only supports append, multiplying in place by {y} removes elements.")
        self.extend(self._storage * (y - 1))
        return self

    def __mul__(self, n):
        return type(self)(self._storage * n)

    __rmul__ = __mul__

    def __getitem__(self, key):
        return self._storage[key]

    def __len__(self):
        return len(self._storage)

    def __repr__(self):
        return f"List({self._storage!r})"


@public("contrib.checkpoint.UniqueNameTracker")
class UniqueNameTracker(TrackableDataStructure):
    """Depends on objects by names that it makes unique."""

    def __init__(self):
        self._counts: dict = {}

    def _held(self):
        return [reference.ref for reference in self._checkpoint_dependencies]

    def track(self, trackable, base_name):
        """Depends on an object by the name `base_name`, or that with a number if it is taken. Returns the object.

        Raises ValueError for what is not trackable.
        """
        if not isinstance(trackable, Trackable):
            raise ValueError(
                f"Expected a trackable value, got {trackable} which does not inherit from tf.track.Trackable."
            )
        names = (f"{base_name}_{count}" if count else base_name
                 for count in itertools.count(self._counts.get(base_name, 0)))  # fmt: skip
        name = next(name for name in names if self._lookup_dependency(name) is None)
        self._counts[base_name] = self._counts.get(base_name, 0) + 1
        self._track_value(trackable, name)
        return trackable


@public("contrib.checkpoint.Mapping")
class Mapping(TrackableDataStructure, collections.abc.Mapping):
    """A dictionary of trackable objects that can only be added to; they are saved under their keys, texts."""

    def __init__(self, *args, **kwargs):
        """Arguments are those of `dict`.

        Raises:
          TypeError: for a key that is no text.
          ValueError: for what is not trackable.
        """
        self._storage: dict = {}
        self.update(*args, **kwargs)

    def _held(self):
        return [self._storage[key] for key in sorted(self._storage)]

    def __copy__(self):
        return type(self)(self._storage)

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self._storage, memo))

    def __setitem__(self, key, value):
        if not isinstance(key, str):
            raise TypeError(f"Mapping accepts only string keys, but got a key {key!r}.")
        current = self._storage.get(key, value)
        if current is not value:
            raise ValueError(
                f"Mappings are an append-only data structure. Tried to overwrite the key '{key}' with value {value}, "
                f"but it already contains {current}"
            )
        self._storage[key] = self._track_value(value, key)

    def update(self, *args, **kwargs):
        """Adds objects; arguments are those of `dict`."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key):
        return self._storage[key]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(self._storage)

    def __repr__(self):
        return f"Mapping({self._storage!r})"

"""Trackable: an object that depends on others by name, and can be restored before they are there."""

from __future__ import annotations

import collections

from stillflow.names import public


@public("python.training.tracking.base.TrackableReference")
class TrackableReference(collections.namedtuple("TrackableReference", ("name", "ref"))):
    """A dependency: its name in the object that has it, and the object that it is."""


class _Tracking:
    """What one object keeps about its dependencies."""

    __slots__ = ("children", "deferred", "update_uid")

    def __init__(self):
        self.children: dict = {}  # name -> object, in order of their coming
        self.deferred: dict = {}  # name -> positions in checkpoints that wait for an object of that name
        self.update_uid = -1  # the number of the last restoration that had a value for the object


@public("python.training.tracking.base.Trackable")
class Trackable:
    """Something that tf.train.Checkpoint saves: it has values of its own, or depends on objects that have.

    Dependencies have names that are unique in the object; keys in checkpoints are made of these.
    """

    @property
    def _tracking(self):
        # Made when it is first needed, because subclasses may forget to call __init__.
        found = self.__dict__.get("_self_tracking")
        if found is None:
            found = self.__dict__["_self_tracking"] = _Tracking()
        return found

    @property
    def _checkpoint_dependencies(self):
        """[TrackableReference] of what is saved with this object."""
        return [TrackableReference(*item) for item in self._tracking.children.items()]

    def _lookup_dependency(self, name):
        """The dependency of that name, or None."""
        return self._tracking.children.get(name)

    def _gather_saveables_for_checkpoint(self):
        """{name of a value: variable, SaveableObject, or function of its key that makes one} of the object itself."""
        return {}

    def _track_trackable(self, trackable, name, overwrite=False):
        """Adds a dependency and returns it. What checkpoints that are being restored have for it, it is given.

        Raises:
          TypeError: for what is not trackable.
          ValueError: if there is another one of that name, unless `overwrite`.
        """
        if not isinstance(trackable, Trackable):
            raise TypeError(f"Trackable._track_trackable() passed type {type(trackable)}, not a Trackable.")
        current = self._lookup_dependency(name)
        if current is not None and current is not trackable and not overwrite:
            raise ValueError(
                f"Called Trackable._track_trackable() with name='{name}', but a Trackable with this name is already "
                "declared as a dependency. Names must be unique (or overwrite=True)."
            )
        self._tracking.children[name] = trackable
        if current is None:
            self._handle_deferred_dependencies(name, trackable)
        return trackable

    def _handle_deferred_dependencies(self, name, trackable):
        """Restores an object that has just come, from all checkpoints that wait for it, the newest first."""
        for position in reversed(self._tracking.deferred.pop(name, [])):
            position.restore(trackable)

    def _defer(self, name, position):
        """Keeps a position in a checkpoint until there is a dependency of that name."""
        self._tracking.deferred.setdefault(name, []).append(position)

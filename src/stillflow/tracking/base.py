"""Trackable: an object that depends on others by name, and can be restored before they are there."""

from __future__ import annotations

from typing import Any, NamedTuple

from stillflow.names import public


@public("python.training.tracking.base.TrackableReference")
class TrackableReference(NamedTuple):
    """A dependency: its name in the object that depends on it, and what it is."""

    name: str
    ref: Any


class _Tracking:
    """What one object keeps about its dependencies."""

    __slots__ = ("children", "deferred", "update_uid")

    def __init__(self):
        self.children: dict = {}  # name -> object, in order of their coming
        self.deferred: dict = {}  # name -> positions in checkpoints that wait for an object of that name
        self.update_uid = -1  # the number of the last restoration that had a value for the object


class TracedFunction:
    """A function of tensors: what a SavedModel keeps as one, where it is an attribute of a Trackable."""


@public("python.training.tracking.tracking.NotTrackable")
class NotTrackable:
    """Says that objects of a class cannot be saved, although they are Trackables."""


@public("contrib.checkpoint.CheckpointableBase", "python.training.tracking.base.Trackable")
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
        """[(name, object)] of what is saved with this object."""
        return [TrackableReference(*item) for item in self._tracking.children.items()]

    def _maybe_initialize_trackable(self):
        """Kept for programs that call it: what an object keeps of its dependencies is made when it is needed."""

    def _lookup_dependency(self, name):
        """The dependency of that name, or None."""
        return self._tracking.children.get(name)

    def _no_dependency(self, value):
        """What to assign to an attribute so that the object does not depend on it: here nothing is tracked anyway."""
        return value

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

    # ---- What SavedModels of objects have besides -------------------------------------------------------------

    @property
    def _object_identifier(self):
        """What a SavedModel calls the object's kind."""
        return "_generic_user_object"

    @property
    def _tracking_metadata(self):
        """What else a SavedModel says of the object, a text."""
        return ""

    def _list_extra_dependencies_for_serialization(self, serialization_cache):
        """{name: object} of what is saved with this object in a SavedModel, and not in a checkpoint.

        `serialization_cache` is a dictionary that all objects of one SavedModel share.
        """
        return {}

    def _list_functions_for_serialization(self, serialization_cache):
        """{name: TracedFunction} of the functions that a SavedModel has of this object."""
        return {}

    # ---- Restoration of what comes later ----------------------------------------------------------------------

    def _handle_deferred_dependencies(self, name, trackable):
        """Restores an object that has just come, from all checkpoints that wait for it, the newest first."""
        for position in reversed(self._tracking.deferred.pop(name, [])):
            position.restore(trackable)

    def _defer(self, name, position):
        """Keeps a position in a checkpoint until there is a dependency of that name."""
        self._tracking.deferred.setdefault(name, []).append(position)

"""Types of objects that a SavedModel brings back as what they were: registered under an identifier, with versions."""

from __future__ import annotations

from typing import Any

from stillflow.formats import protobuf
from stillflow.names import public


@public("python.saved_model.revived_types.VersionedTypeRegistration")
class VersionedTypeRegistration:
    """One version of how objects of a type are made again.

    Args:
      object_factory: a function of a SavedUserObject message that makes an object.
      version: the number of this version, which is written.
      min_producer_version: the oldest written version that it can read.
      min_consumer_version: the oldest version that can read what it writes.
      bad_consumers: versions that cannot, besides.
      setter: a function of the object, a name and what it depends on by that name, such as `setattr`.
    """

    def __init__(
        self, object_factory, version, min_producer_version, min_consumer_version, bad_consumers=None, setter=setattr
    ):
        self.setter = setter
        self.identifier: Any = None  # set when it is registered
        self.version = version
        self._object_factory = object_factory
        self._min_producer_version = min_producer_version
        self._min_consumer_version = min_consumer_version
        self._bad_consumers = bad_consumers or []

    def to_proto(self):
        """The SavedUserObject message of an object."""
        version = {
            "producer": self.version, "min_consumer": self._min_consumer_version, "bad_consumers": self._bad_consumers
        }  # fmt: skip
        return protobuf.message("SavedUserObject")(identifier=self.identifier, version=version)

    def from_proto(self, proto):
        """A new object for a SavedUserObject message."""
        return self._object_factory(proto)

    def should_load(self, proto):
        """Whether it can read a SavedUserObject message."""
        return (
            proto.identifier == self.identifier
            and self.version >= proto.version.min_consumer
            and proto.version.producer >= self._min_producer_version
            and self.version not in proto.version.bad_consumers
        )


_types: dict = {}  # identifier -> (predicate, versions, the newest first)


@public("python.saved_model.revived_types.register_revived_type")
def register_revived_type(identifier, predicate, versions):
    """Registers a type.

    Args:
      identifier: its name in messages.
      predicate: a function of an object that says whether it is of the type.
      versions: VersionedTypeRegistrations; the list is put in order, the newest first.

    Raises AssertionError for no versions, two of one number, and an identifier that is taken.
    """
    versions.sort(key=lambda registration: registration.version, reverse=True)
    if not versions:
        raise AssertionError("Need at least one version of a registered type.")
    numbers = set()
    for registration in versions:
        registration.identifier = identifier
        if registration.version in numbers:
            raise AssertionError(
                f"Got multiple registrations with version {registration.version} for type {identifier}"
            )
        numbers.add(registration.version)
    if identifier in _types:
        raise AssertionError(f"Duplicate registrations for type {identifier}")
    _types[identifier] = predicate, versions


@public("python.saved_model.revived_types.serialize")
def serialize(obj):
    """The SavedUserObject message of an object, or None if it is of no registered type."""
    for predicate, versions in _types.values():
        if predicate(obj):
            return versions[0].to_proto()
    return None


@public("python.saved_model.revived_types.deserialize")
def deserialize(proto):
    """(a new object for a SavedUserObject message, its setter); None if no registered version can read it."""
    _, versions = _types.get(proto.identifier, (None, ()))
    for registration in versions:
        if registration.should_load(proto):
            return registration.from_proto(proto), registration.setter
    return None


@public("python.saved_model.revived_types.registered_identifiers")
def registered_identifiers():
    """The identifiers of all registered types."""
    return _types.keys()

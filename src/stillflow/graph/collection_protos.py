"""How the items of a collection become messages in a MetaGraph, and come back from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from stillflow.formats import protobuf
from stillflow.names import public


class CollectionProto(NamedTuple):
    """The message type, by its name or itself, and the ways there and back.

    to_proto(item, export_scope) returns None for items outside of the scope; from_proto(message, import_scope)
    returns the item.
    """

    message: Any
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]

    @property
    def kind(self):
        """The class of the messages."""
        return protobuf.message(self.message) if isinstance(self.message, str) else self.message


_registered: dict[str, CollectionProto] = {}


def register(collection, message, to_proto, from_proto):
    """Makes the items of `collection` travel as messages of the type `message`. Raises TypeError for no functions."""
    if not callable(to_proto) or not callable(from_proto):
        raise TypeError("to_proto and from_proto must be callable.")
    _registered[collection] = CollectionProto(message, to_proto, from_proto)


def find(collection) -> CollectionProto | None:
    return _registered.get(collection)


@public("python.framework.ops.register_proto_function")
def register_proto_function(collection_name, proto_type=None, to_proto=None, from_proto=None):
    """Says how the items of a collection become messages in a MetaGraph, and come back from them.

    Args:
      collection_name: the name of the collection.
      proto_type: the class of the messages.
      to_proto: a function of an item and `export_scope` that returns a message.
      from_proto: a function of a message and `import_scope` that returns an item.

    Raises:
      TypeError: for what cannot be called.
      KeyError: for a collection of which that is known already.
    """
    for name, function in (("to_proto", to_proto), ("from_proto", from_proto)):
        if function and not callable(function):
            raise TypeError(f"{name} must be callable.")
    if collection_name in _registered:
        raise KeyError(f"Registering two proto functions with name {collection_name!r}!")
    _registered[collection_name] = CollectionProto(proto_type, to_proto, from_proto)


@public("python.framework.ops.get_collection_proto_type")
def get_collection_proto_type(collection_name):
    """The class of a collection's messages, or None."""
    found = find(collection_name)
    return None if found is None else found.kind


@public("python.framework.ops.get_to_proto_function")
def get_to_proto_function(collection_name):
    """What makes messages of a collection's items, or None."""
    found = find(collection_name)
    return None if found is None else found.to_proto


@public("python.framework.ops.get_from_proto_function")
def get_from_proto_function(collection_name):
    """What makes a collection's items of messages, or None."""
    found = find(collection_name)
    return None if found is None else found.from_proto

"""How the items of a collection become messages in a MetaGraph, and come back from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class CollectionProto(NamedTuple):
    """The name of the message type, and the ways there and back.

    to_proto(item, export_scope) returns None for items outside of the scope; from_proto(message, import_scope)
    returns the item.
    """

    message: str
    to_proto: Callable[..., Any]
    from_proto: Callable[..., Any]


_registered: dict[str, CollectionProto] = {}


def register(collection, message, to_proto, from_proto):
    """Makes the items of `collection` travel as messages of the type `message`. Raises TypeError for no functions."""
    if not callable(to_proto) or not callable(from_proto):
        raise TypeError("to_proto and from_proto must be callable.")
    _registered[collection] = CollectionProto(message, to_proto, from_proto)


def find(collection) -> CollectionProto | None:
    return _registered.get(collection)

"""Fetches of Session.run: nested structures of tensors and operations, flattened and packed."""

from __future__ import annotations

import collections
import operator

from stillflow import errors
from stillflow.graph import nest
from stillflow.graph.composite_tensor import CompositeTensor
from stillflow.graph.indexed_slices import IndexedSlices, IndexedSlicesValue
from stillflow.graph.operation import Operation, Tensor
from stillflow.session.tensor_handles import is_handle, take_handle

# {type: function (fetch) -> (tensors, function that makes the result from their values)}: how objects of a program's
# own types are fetched.
_CONVERSIONS: dict = {}


def register_conversion(kind, convert):
    """Fetches of `kind` become convert(fetch): a list of tensors, and a function from their values to the result."""
    _CONVERSIONS[kind] = convert


def composites():
    """The types that stand for several tensors."""
    return [CompositeTensor, *_CONVERSIONS]


def structure_key(fetches):
    """Something hashable that is equal for equal structures of the same elements. TypeError if there is none."""
    kind = type(fetches)
    if kind is Tensor or kind is Operation:
        return fetches
    if isinstance(fetches, (list, tuple)):
        return kind, *[structure_key(item) for item in fetches]
    if isinstance(fetches, dict):
        return kind, *[(key, structure_key(value)) for key, value in fetches.items()]
    hash(fetches)
    return fetches


class Fetches:
    """A structure of fetches: the tensors and operations in it, each once, and the way back: put_together(values) is
    the structure with values in the place of tensors and None in that of operations. Handles of tensors become those
    of `session`."""

    def __init__(self, session, fetches):
        self._session = session
        self._graph = session.graph
        self._index = {}  # Tensor -> position in `tensors`
        self._targets = {}
        self.put_together = self._take_apart(fetches)

    @property
    def tensors(self):
        return list(self._index)

    @property
    def targets(self):
        return list(self._targets)

    def _take_apart(self, fetch):
        """A function from the list of values to this fetch's result."""
        if fetch is None:
            raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}")
        if isinstance(fetch, (list, tuple)):
            return self._sequence(fetch)
        if isinstance(fetch, dict):
            members = {key: self._take_apart(value) for key, value in fetch.items()}
            kind = type(fetch)
            if kind is collections.defaultdict:
                kind = dict
            return lambda values: kind((key, part(values)) for key, part in members.items())
        if hasattr(type(fetch), "__attrs_attrs__"):
            names = [attribute.name for attribute in type(fetch).__attrs_attrs__]
            fields = [self._take_apart(getattr(fetch, name)) for name in names]
            return lambda values: type(fetch)(*[part(values) for part in fields])
        for kind, convert in _CONVERSIONS.items():
            if isinstance(fetch, kind):
                tensors, contract = convert(fetch)
                parts = [self._element(tensor) for tensor in tensors]
                return lambda values: contract([part(values) for part in parts])
        if isinstance(fetch, IndexedSlices):  # of which TensorFlow fetches also what has no specification
            parts = [self._element(tensor) for tensor in nest.components(fetch)]
            missing = [None] * (3 - len(parts))
            return lambda values: IndexedSlicesValue(*[part(values) for part in parts], *missing)
        if isinstance(fetch, CompositeTensor):
            spec = fetch._type_spec
            parts = [self._element(tensor) for tensor in nest.components(fetch)]
            return lambda values: nest.pack_sequence_as(
                spec, [part(values) for part in parts], expand_composites=True
            )
        return self._element(fetch)

    def _sequence(self, fetch):
        parts = [self._take_apart(item) for item in fetch]
        kind = type(fetch)
        if hasattr(kind, "_fields"):
            return lambda values: kind(*[part(values) for part in parts])
        if kind is list or not isinstance(fetch, tuple):
            return lambda values: [part(values) for part in parts]
        return lambda values: kind(part(values) for part in parts)

    def _element(self, fetch):
        element = self._find(fetch)
        if not self._graph.is_fetchable(element):
            name = getattr(element, "op", element).name
            raise errors.InaccessibleTensorError(
                f"Operation {name!r} has been marked as not fetchable. Typically this happens when it is defined in "
                "another function or code block. Use return values,explicit Python locals or TensorFlow collections "
                "to access it."
            )
        if isinstance(element, Operation):
            self._targets[element] = None
            return lambda values: None
        position = self._index.setdefault(element, len(self._index))
        if is_handle(element):
            return lambda values: take_handle(element, values[position], self._session)
        return operator.itemgetter(position)

    def _find(self, fetch):
        try:
            return self._graph.as_graph_element(fetch, allow_tensor=True, allow_operation=True)
        except TypeError as error:
            raise TypeError(
                f"Fetch argument {fetch!r} has invalid type {type(fetch)!r}, must be a string or Tensor. ({error})"
            ) from None
        except (ValueError, KeyError) as error:
            raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None

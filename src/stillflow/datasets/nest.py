"""Nested structures of elements: tuples, named tuples and dictionaries. Lists are leaves: they become tensors."""

from __future__ import annotations

import collections.abc

from stillflow.graph import nest as graph_nest
from stillflow.names import public
from stillflow.ops.sparse_tensor import SparseTensorValue


@public("python.data.util.nest.is_sequence")
def is_sequence(value):
    """Whether it is a tuple or a dictionary."""
    return isinstance(value, (tuple, collections.abc.Mapping)) and not isinstance(value, SparseTensorValue)


def _children(structure):
    if not is_sequence(structure):
        return None
    if isinstance(structure, collections.abc.Mapping):
        return [structure[key] for key in graph_nest._sorted_keys(structure)]
    return list(structure)


@public("python.data.util.nest.flatten")
def flatten(structure):
    """The leaves in order; a list with itself for a leaf."""
    children = _children(structure)
    if children is None:
        return [structure]
    return [leaf for child in children for leaf in flatten(child)]


@public("python.data.util.nest.pack_sequence_as")
def pack_sequence_as(structure, flat_sequence):
    """What `structure` is, with other leaves. Raises ValueError if there are more or fewer of them."""
    items = list(flat_sequence)
    count = len(flatten(structure))
    if not is_sequence(structure) and len(items) != 1:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(items)} > 1")
    if count != len(items):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(items)} elements.  "
            f"Structure: {structure}, flat_sequence: {items}."
        )
    return _packed(structure, iter(items))


def _packed(structure, items):
    children = _children(structure)
    if children is None:
        return next(items)
    return graph_nest._with_children(structure, [_packed(child, items) for child in children])


@public("python.data.util.nest.map_structure")
def map_structure(function, *structures):
    """function(leaf, leaf, ...) in the form of the structures, which must be one form."""
    for other in structures[1:]:
        assert_same_structure(structures[0], other)
    leaves = zip(*(flatten(structure) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [function(*each) for each in leaves])


@public("python.data.util.nest.assert_same_structure")
def assert_same_structure(first, second):
    """Raises ValueError for structures of different forms, TypeError where sequences are of different types."""
    parts, others = _children(first), _children(second)
    if (parts is None) != (others is None):
        raise ValueError(
            f"The two structures don't have the same nested structure. First structure: {first}, second structure: "
            f"{second}."
        )
    if parts is None or others is None:
        return
    if len(parts) != len(others):
        raise ValueError(
            f"The two structures don't have the same number of elements. First structure: {first}, second structure: "
            f"{second}."
        )
    if type(first) is not type(second) and not all(isinstance(s, collections.abc.Mapping) for s in (first, second)):
        raise TypeError(
            f"The two structures don't have the same sequence type. First structure has type {type(first)}, while "
            f"second structure has type {type(second)}."
        )
    if isinstance(first, collections.abc.Mapping) and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(first)}, while second structure has keys {list(second)}."
        )
    for part, other in zip(parts, others, strict=True):
        assert_same_structure(part, other)


@public("python.data.util.nest.flatten_up_to")
def flatten_up_to(shallow, structure):
    """What stands in `structure` in the places of the leaves of `shallow`.

    Raises:
      TypeError: where `shallow` is nested and `structure` is not, or of another type.
      ValueError: if lengths or keys differ.
    """
    if not is_sequence(shallow):
        return [structure]
    if not is_sequence(structure):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: '{type(structure)}'."
        )
    if type(shallow) is not type(structure) and not isinstance(shallow, collections.abc.Mapping):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"'{type(structure)}', while shallow structure has type '{type(shallow)}'."
        )
    parts, others = _children(shallow), _children(structure)
    if len(parts) != len(others):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(others)}, while shallow structure has length {len(parts)}."
        )
    if isinstance(shallow, collections.abc.Mapping) and set(shallow) != set(structure):
        raise ValueError(
            f"The two structures don't have the same keys. Input structure has keys {list(structure)}, while shallow "
            f"structure has keys {list(shallow)}."
        )
    return [leaf for part, other in zip(parts, others, strict=True) for leaf in flatten_up_to(part, other)]


@public("python.data.util.nest.map_structure_up_to")
def map_structure_up_to(shallow, function, *structures):
    """function(part, ...) of what stands in the places of the leaves of `shallow`, in its form."""
    parts = zip(*(flatten_up_to(shallow, structure) for structure in structures), strict=True)
    return pack_sequence_as(shallow, [function(*each) for each in parts])

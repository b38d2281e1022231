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
    """What `structure` is, with other leaves.

    Raises:
      TypeError: if `flat_sequence` is no sequence.
      ValueError: if there are more or fewer items in it than leaves.
    """
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
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
def map_structure(func, *structure, **check_types_dict):
    """func(leaf, leaf, ...) in the form of the structures, which must be one form.

    The keyword argument is `check_types` (True): whether tuples and dictionaries must be of the same types.
    Raises ValueError for structures of different forms, TypeError for those of different types.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    if set(check_types_dict) - {"check_types"}:
        raise ValueError("Only valid keyword argument is check_types")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, **check_types_dict)
    leaves = zip(*(flatten(each) for each in structure), strict=True)
    return pack_sequence_as(structure[0], [func(*each) for each in leaves])


@public("python.data.util.nest.assert_same_structure")
def assert_same_structure(nest1, nest2, check_types=True):
    """Raises ValueError for structures of different forms, TypeError where sequences are of different types."""
    parts, others = _children(nest1), _children(nest2)
    both = f"First structure: {nest1}, second structure: {nest2}."
    if (parts is None) != (others is None):
        raise ValueError(f"The two structures don't have the same nested structure. {both}")
    if parts is None or others is None:
        return
    if len(parts) != len(others):
        raise ValueError(
            "The two structures don't have the same nested structure: they don't have the same number of elements. "
            + both
        )
    are_mappings = all(isinstance(each, collections.abc.Mapping) for each in (nest1, nest2))
    if check_types and type(nest1) is not type(nest2) and not are_mappings:
        raise TypeError(
            f"The two structures don't have the same sequence type. First structure has type {type(nest1)}, while "
            f"second structure has type {type(nest2)}."
        )
    if check_types and are_mappings and set(nest1) != set(nest2):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{list(nest1)}, while second structure has keys {list(nest2)}."
        )
    for part, other in zip(parts, others, strict=True):
        assert_same_structure(part, other, check_types)


@public("python.data.util.nest.assert_shallow_structure")
def assert_shallow_structure(shallow_tree, input_tree, check_types=True):
    """Raises unless `input_tree` is nested in all places where `shallow_tree` is.

    Raises:
      TypeError: where `input_tree` is not nested and, with `check_types`, is of another type.
      ValueError: if lengths or, with `check_types`, keys differ.
    """
    if not is_sequence(shallow_tree):
        return
    if not is_sequence(input_tree):
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if check_types and not isinstance(input_tree, type(shallow_tree)):
        raise TypeError(
            "The two structures don't have the same sequence type. Input structure has type "
            f"{type(input_tree)}, while shallow structure has type {type(shallow_tree)}."
        )
    if len(shallow_tree) != len(input_tree):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(input_tree)}, while shallow structure has length {len(shallow_tree)}."
        )
    if check_types and isinstance(shallow_tree, collections.abc.Mapping) and set(shallow_tree) != set(input_tree):
        raise ValueError(
            "The two structures don't have the same keys. Input structure has keys "
            f"{list(input_tree)}, while shallow structure has keys {list(shallow_tree)}."
        )
    for part, other in zip(_children(shallow_tree), _children(input_tree), strict=True):
        assert_shallow_structure(part, other, check_types)


@public("python.data.util.nest.flatten_up_to")
def flatten_up_to(shallow_tree, input_tree):
    """What `input_tree` has in the places of the leaves of `shallow_tree`; raises as assert_shallow_structure."""
    assert_shallow_structure(shallow_tree, input_tree)
    return _flat(shallow_tree, input_tree)


def _flat(shallow, structure):
    if not is_sequence(shallow):
        return [structure]
    pairs = zip(_children(shallow), _children(structure), strict=True)
    return [leaf for part, other in pairs for leaf in _flat(part, other)]


@public("python.data.util.nest.map_structure_up_to")
def map_structure_up_to(shallow_tree, func, *inputs):
    """func(part, ...) of what stands in the places of the leaves of `shallow_tree`, in its form.

    Raises ValueError without inputs, and as assert_shallow_structure does.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    parts = zip(*(flatten_up_to(shallow_tree, structure) for structure in inputs), strict=True)
    return pack_sequence_as(shallow_tree, [func(*each) for each in parts])

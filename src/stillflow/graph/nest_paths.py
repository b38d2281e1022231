"""Nested structures flattened and mapped together with the paths to their leaves."""

from __future__ import annotations

import collections.abc

from stillflow.graph import nest
from stillflow.graph.composite import Composite
from stillflow.graph.nest import _children, _sorted_keys
from stillflow.graph.shallow_nest import _paired, assert_shallow_structure, flatten_up_to
from stillflow.names import public


def _steps(structure, expand_composites):
    """What leads to each of the parts of one level: a tuple of one step; for a composite, its type's name."""
    if isinstance(structure, collections.abc.Mapping):
        return [(key,) for key in _sorted_keys(structure)]
    if hasattr(type(structure), "_fields"):
        return [(name,) for name in structure._fields]
    if hasattr(type(structure), "__attrs_attrs__"):
        return [(attribute.name,) for attribute in type(structure).__attrs_attrs__]
    if isinstance(structure, Composite):
        return [(structure._spec().value_type.__name__,)]
    return [(i,) for i in range(len(_children(structure, expand_composites)))]


def _paths(shallow, structure, expand_composites, path=()):
    if _children(shallow, expand_composites) is None:
        return [(path, structure)]
    found = []
    steps = _steps(shallow, expand_composites)
    for step, (part, other) in zip(steps, _paired(shallow, structure, expand_composites), strict=True):
        found += _paths(part, other, expand_composites, path + step)
    return found


@public("python.util.nest.flatten_with_tuple_paths")
def flatten_with_tuple_paths(structure, expand_composites=False):
    """[(path, leaf)] of a structure; a path is a tuple of keys, indices and names of fields."""
    return _paths(structure, structure, expand_composites)


@public("python.util.nest.yield_flat_paths")
def yield_flat_paths(nest, expand_composites=False):
    """The paths of the leaves alone, in the order of `flatten`."""
    for path, _ in _paths(nest, nest, expand_composites):
        yield path


@public("python.util.nest.flatten_with_tuple_paths_up_to")
def flatten_with_tuple_paths_up_to(
    shallow_tree, input_tree, check_types=True, expand_composites=False, check_subtrees_length=True
):
    """[(path, part)] of what `input_tree` has in the places of the leaves of `shallow_tree`.

    Raises as assert_shallow_structure does.
    """
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return _paths(shallow_tree, input_tree, expand_composites)


@public("python.util.nest.flatten_with_joined_string_paths")
def flatten_with_joined_string_paths(structure, separator="/", expand_composites=False):
    """[(path, leaf)] of a structure; a path is a text, with a separator between its steps."""
    return [
        (separator.join(map(str, path)), leaf)
        for path, leaf in flatten_with_tuple_paths(structure, expand_composites)
    ]


@public("python.util.nest.map_structure_with_tuple_paths_up_to")
def map_structure_with_tuple_paths_up_to(
    shallow_tree, func, *inputs, check_types=True, expand_composites=False, check_subtrees_length=True, **kwargs
):
    """func(path, part, ...) of the parts of `inputs` in the places of the leaves of `shallow_tree`, in its form.

    Further keyword arguments are passed on to `func`. Raises ValueError without inputs, and as
    assert_shallow_structure does.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    options = check_types, expand_composites, check_subtrees_length
    flat = [flatten_up_to(shallow_tree, structure, *options) for structure in inputs]
    paths = [path for path, _ in flatten_with_tuple_paths_up_to(shallow_tree, inputs[0], *options)]
    results = [func(*each, **kwargs) for each in zip(paths, *flat, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results, expand_composites)


@public("python.util.nest.map_structure_with_tuple_paths")
def map_structure_with_tuple_paths(func, *structure, **kwargs):
    """func(path, leaf, ...) of the leaves of structures of one form, with tuples as paths."""
    return map_structure_with_tuple_paths_up_to(structure[0] if structure else None, func, *structure, **kwargs)


@public("python.util.nest.map_structure_with_paths")
def map_structure_with_paths(func, *structure, **kwargs):
    """func(path, leaf, ...) of the leaves of structures of one form; a path is a text, its steps parted by "/"."""

    def with_text(path, *leaves, **options):
        return func("/".join(map(str, path)), *leaves, **options)

    return map_structure_with_tuple_paths(with_text, *structure, **kwargs)


@public("python.util.nest.flatten_dict_items")
def flatten_dict_items(dictionary):
    """A dictionary of the same type, whose keys that are nested are taken apart, and their values with them.

    Raises:
      TypeError: for what is no dictionary.
      ValueError: if a key has more or fewer leaves than its value, or a leaf is in several keys.
    """
    if not isinstance(dictionary, (dict, collections.abc.Mapping)):
        raise TypeError("input must be a dictionary")
    found: dict = {}
    for key, value in dictionary.items():
        keys, values = ([key], [value]) if not nest.is_nested(key) else (nest.flatten(key), nest.flatten(value))
        if len(keys) != len(values):
            raise ValueError(
                f"Could not flatten dictionary. Key had {len(keys)} elements, but value had {len(values)} elements. "
                f"Key: {keys}, value: {values}."
            )
        for each, part in zip(keys, values, strict=True):
            if each in found:
                raise ValueError(f"Could not flatten dictionary: key {each} is not unique.")
            found[each] = part
    return type(dictionary)(found)  # type: ignore[call-arg]


@public("python.util.nest.is_sequence_or_composite")
def is_sequence_or_composite(seq):
    """Whether this is nested, or stands for several tensors."""
    return _children(seq, True) is not None

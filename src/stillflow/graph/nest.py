"""Nested structures (lists, tuples, named tuples, dictionaries): flattened and packed.

Dictionaries are walked in the order of their keys. With `expand_composites` what stands for several tensors, such as
IndexedSlices, is taken apart too.
"""

from __future__ import annotations

import collections.abc

from stillflow.graph.composite import Composite
from stillflow.names import public, public_module
from stillflow.names.namespace import serve

public_module("python.util.nest", "contrib.framework.nest")

_SEQUENCES = (collections.abc.Mapping, collections.abc.MappingView, collections.abc.Sequence)


def components(value):
    """The tensors that a composite stands for; a list with the value itself if it is none."""
    return flatten(value, expand_composites=True) if isinstance(value, Composite) else [value]


@public("nest.is_nested", "python.util.nest.is_sequence")
def is_nested(seq):
    """Whether it is a list, a tuple, a dictionary, a view of one or another sequence that is no text."""
    return isinstance(seq, (list, tuple)) or (isinstance(seq, _SEQUENCES) and not isinstance(seq, (str, bytes)))


def _children(structure, expand_composites):
    """The parts of one level, or None for a leaf."""
    if isinstance(structure, collections.abc.Mapping):
        return [structure[key] for key in _sorted_keys(structure)]
    if is_nested(structure):
        return list(structure)
    if expand_composites and isinstance(structure, Composite):
        parts = structure._parts()
        return None if parts is structure else [parts]
    return None


def _sorted_keys(mapping):
    try:
        return sorted(mapping)
    except TypeError:
        raise TypeError("nest only supports dicts with sortable keys.") from None


@public("python.util.nest._is_namedtuple")
def is_namedtuple(instance, strict=False):
    """Whether it is a named tuple; with `strict` not one of a class that is derived from one, as typing's are."""
    kind = type(instance)
    fields = getattr(kind, "_fields", None)
    if not isinstance(instance, tuple) or not isinstance(fields, tuple):
        return False
    return all(isinstance(field, str) for field in fields) and (not strict or kind.__bases__ == (tuple,))


def _with_children(structure, children):
    """What `structure` is at this level, with other parts."""
    kind = type(structure)
    if isinstance(structure, collections.abc.Mapping):
        by_key = dict(zip(_sorted_keys(structure), children, strict=True))
        items = [(key, by_key[key]) for key in structure]
        if isinstance(structure, collections.defaultdict):
            return collections.defaultdict(structure.default_factory, items)
        return kind(items)
    if hasattr(kind, "_fields"):
        return kind(*children)
    if isinstance(structure, (collections.abc.MappingView, range)):  # which cannot have other parts
        return list(children)
    if is_nested(structure):
        return kind(children)
    return structure._with_parts(children[0])


@public("nest.flatten")
def flatten(structure, expand_composites=False):
    """The leaves of a structure, in order; a list with itself for what is none."""
    children = _children(structure, expand_composites)
    if children is None:
        return [structure]
    return [leaf for child in children for leaf in flatten(child, expand_composites)]


@public("nest.pack_sequence_as")
def pack_sequence_as(structure, flat_sequence, expand_composites=False):
    """What `structure` is, with the items of `flat_sequence` in the places of its leaves.

    Raises:
      TypeError: if `flat_sequence` is no sequence.
      ValueError: if there are more or fewer items than leaves.
    """
    if not isinstance(flat_sequence, (list, tuple)):
        raise TypeError("flat_sequence must be a sequence")
    items = list(flat_sequence)
    count = len(flatten(structure, expand_composites))
    if _children(structure, expand_composites) is None and len(items) != 1:
        raise ValueError(f"Structure is a scalar but len(flat_sequence) == {len(items)} > 1")
    if count != len(items):
        raise ValueError(
            f"Could not pack sequence. Structure had {count} elements, but flat_sequence had {len(items)} elements.  "
            f"Structure: {structure}, flat_sequence: {items}."
        )
    return _packed(structure, iter(items), expand_composites)


def _packed(structure, items, expand_composites):
    children = _children(structure, expand_composites)
    if children is None:
        return next(items)
    return _with_children(structure, [_packed(child, items, expand_composites) for child in children])


def _map_structure(func, *structures, check_types=True, expand_composites=False):
    """func(leaf, leaf, ...) for the leaves of structures of one form, in that form.

    Raises:
      TypeError: if `func` cannot be called, and for sequences of different types unless not `check_types`.
      ValueError: without a structure, and for structures of different forms.
    """
    if not callable(func):
        raise TypeError(f"func must be callable, got: {func}")
    if not structures:
        raise ValueError("Must provide at least one structure")
    for other in structures[1:]:
        assert_same_structure(structures[0], other, check_types, expand_composites)
    leaves = zip(*(flatten(structure, expand_composites) for structure in structures), strict=True)
    return pack_sequence_as(structures[0], [func(*each) for each in leaves], expand_composites)


@public("nest.assert_same_structure")
def assert_same_structure(nest1, nest2, check_types=True, expand_composites=False):
    """Raises unless two structures are nested in the same way.

    Raises:
      ValueError: if they are of different forms.
      TypeError: with `check_types`, if sequences in them are of different types, or dictionaries have other keys.
    """
    try:
        _assert_same(nest1, nest2, check_types, expand_composites)
    except (TypeError, ValueError) as error:
        forms = [_packed(nest, iter(lambda: _DOT, None), False) for nest in (nest1, nest2)]
        raise type(error)(
            "The two structures don't have the same nested structure.\n\n"
            f"First structure: type={type(nest1).__name__} str={nest1!s}\n\n"
            f"Second structure: type={type(nest2).__name__} str={nest2!s}\n\n"
            f"More specifically: {error}\n"
            f"Entire first structure:\n{forms[0]}\nEntire second structure:\n{forms[1]}"
        ) from None


class _Dot:
    """Stands for a leaf in messages."""

    def __repr__(self):
        return "."


_DOT = _Dot()


def _assert_same(first, second, check_types, expand_composites):
    parts, others = _children(first, expand_composites), _children(second, expand_composites)
    if (parts is None) != (others is None):
        nested, leaf = (first, second) if others is None else (second, first)
        raise ValueError(
            f'Substructure "type={type(nested).__name__} str={nested!s}" is a sequence, while substructure '
            f'"type={type(leaf).__name__} str={leaf!s}" is not'
        )
    if parts is None or others is None:
        return
    if are_composite(first, second):
        assert_same_composite(first, second, check_types, lambda: _different_types(first, second))
    elif check_types:
        _assert_same_type(first, second)
    if len(parts) != len(others):
        raise ValueError(
            "The two structures don't have the same number of elements. "
            f"First structure: type={type(first).__name__} str={first!s}. "
            f"Second structure: type={type(second).__name__} str={second!s}"
        )
    for part, other in zip(parts, others, strict=True):
        _assert_same(part, other, check_types, expand_composites)


def _assert_same_type(first, second):
    are_same = type(first) is type(second) or _are_alike(type(first), type(second))
    are_mappings = all(isinstance(each, collections.abc.Mapping) for each in (first, second))
    if not are_same and not are_mappings:
        raise _different_types(first, second)
    if are_mappings and set(first) != set(second):
        raise ValueError(
            "The two dictionaries don't have the same set of keys. First structure has keys "
            f"{sorted(first)}, while second structure has keys {sorted(second)}."
        )


def _different_types(first, second):
    return TypeError(
        "The two structures don't have the same sequence type. First structure has type "
        f"{type(first).__name__}, while second structure has type {type(second).__name__}."
    )


def are_composite(*structures):
    """Whether one of them stands for several tensors; what specifies such a value does not."""
    return any(isinstance(each, Composite) and each._spec() is not each for each in structures)


def assert_same_composite(first, second, check_types, wrong_type):
    """Raises unless both are values of one specification, or one is a specification that may be of the other.

    Raises ValueError for specifications of which nothing is true of both, and wrong_type(), a TypeError, for what has
    none and, with `check_types`, for values of different types.
    """
    if not isinstance(first, Composite) or not isinstance(second, Composite):
        raise wrong_type()
    if check_types and type(first) is not type(second) and are_composite(first) and are_composite(second):
        raise wrong_type()
    specs = first._spec(), second._spec()
    try:
        specs[0].most_specific_compatible_type(specs[1])
    except (TypeError, ValueError) as error:
        raise ValueError(f"Incompatible CompositeTensor TypeSpecs: {specs[0]} vs. {specs[1]} -- {error}") from None


def _are_alike(first, second):
    """Whether two types of named tuples have one name and the same fields."""
    fields = getattr(first, "_fields", None)
    return fields is not None and fields == getattr(second, "_fields", None) and first.__name__ == second.__name__


@public("nest.map_structure")
def map_structure(func, *structure, **kwargs):
    """func(leaf, leaf, ...) for the leaves of structures of one form, in that form.

    Keyword arguments are `check_types` (True) and `expand_composites` (False). Raises ValueError for structures of
    different forms, TypeError for sequences of different types unless not `check_types`.
    """
    unknown = set(kwargs) - {"check_types", "expand_composites"}
    if unknown:
        raise ValueError(
            f"Only valid keyword arguments are `check_types` and `expand_composites`, not: {sorted(unknown)}"
        )
    return _map_structure(func, *structure, **kwargs)


# Of the namespace also what lies in shallow_nest.
__getattr__, _ = serve("python.util.nest", __name__)

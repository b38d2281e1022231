"""Nested structures flattened only as deep as another, shallow structure is nested."""

from __future__ import annotations

import collections.abc

from stillflow.graph import nest
from stillflow.graph.nest import _are_alike, _children, _sorted_keys, _with_children
from stillflow.graph.type_spec import TypeSpec
from stillflow.names import public


@public("python.util.nest.assert_shallow_structure")
def assert_shallow_structure(
    shallow_tree, input_tree, check_types=True, expand_composites=False, check_subtrees_length=True
):
    """Raises unless `input_tree` is nested in all places where `shallow_tree` is.

    Args:
      check_types: whether sequences must be of the same types.
      expand_composites: whether what stands for several tensors is nested.
      check_subtrees_length: whether sequences must be of the same lengths; `input_tree` may else have longer ones.

    Raises:
      TypeError: where `input_tree` is not nested, or is another type of sequence.
      ValueError: where lengths differ or keys are missing.
    """
    parts = _children(shallow_tree, expand_composites)
    if parts is None:
        return
    others = _children(input_tree, expand_composites)
    if others is None:
        raise TypeError(
            f"If shallow structure is a sequence, input must also be a sequence. Input has type: {type(input_tree)}."
        )
    if expand_composites and nest.are_composite(shallow_tree, input_tree):
        nest.assert_same_composite(
            shallow_tree, input_tree, check_types, lambda: _wrong_type(shallow_tree, input_tree)
        )
    elif isinstance(shallow_tree, TypeSpec) and not isinstance(input_tree, TypeSpec):
        raise TypeError(
            f"If shallow structure is a TypeSpec, input must also be a TypeSpec.  Input has type: {type(input_tree)}."
        )
    elif check_types:
        _check_types(shallow_tree, input_tree)
    if check_subtrees_length and len(parts) != len(others):
        raise ValueError(
            "The two structures don't have the same sequence length. Input structure has length "
            f"{len(others)}, while shallow structure has length {len(parts)}."
        )
    if len(others) < len(parts):
        raise ValueError(
            f"The input_tree has fewer elements than the shallow_tree. Input structure has length {len(others)}, "
            f"while shallow structure has length {len(parts)}."
        )
    if isinstance(shallow_tree, collections.abc.Mapping):
        missing = set(shallow_tree) - set(input_tree)
        if missing:
            raise ValueError(
                "The shallow_tree's keys are not a subset of the input_tree's keys. The shallow_tree has the "
                f"following keys that are not in the input_tree: {sorted(missing)}."
            )
    for part, other in _paired(shallow_tree, input_tree, expand_composites):
        assert_shallow_structure(part, other, check_types, expand_composites, check_subtrees_length)


def _check_types(shallow, structure):
    both = shallow, structure
    if isinstance(structure, type(shallow)) or _are_alike(type(shallow), type(structure)):
        return
    if all(isinstance(each, collections.abc.Mapping) for each in both):
        return
    raise _wrong_type(shallow, structure)


def _wrong_type(shallow, structure):
    return TypeError(
        f"The two structures don't have the same sequence type. Input structure has type {type(structure)}, while "
        f"shallow structure has type {type(shallow)}."
    )


def _paired(shallow, structure, expand_composites):
    """Pairs of a part of `shallow` and the part of `structure` in its place."""
    if isinstance(shallow, collections.abc.Mapping):
        return [(shallow[key], structure[key]) for key in _sorted_keys(shallow)]
    # The structure may have more parts than the shallow one.
    return list(zip(_children(shallow, expand_composites), _children(structure, expand_composites), strict=False))


@public("python.util.nest.flatten_up_to")
def flatten_up_to(shallow_tree, input_tree, check_types=True, expand_composites=False, check_subtrees_length=True):
    """The parts of `input_tree` in the places of the leaves of `shallow_tree`; raises as assert_shallow_structure."""
    assert_shallow_structure(shallow_tree, input_tree, check_types, expand_composites, check_subtrees_length)
    return _flat(shallow_tree, input_tree, expand_composites)


def _flat(shallow, structure, expand_composites):
    if _children(shallow, expand_composites) is None:
        return [structure]
    pairs = _paired(shallow, structure, expand_composites)
    return [leaf for part, other in pairs for leaf in _flat(part, other, expand_composites)]


@public("python.util.nest.map_structure_up_to")
def map_structure_up_to(
    shallow_tree, func, *inputs, check_types=True, expand_composites=False, check_subtrees_length=True, **kwargs
):
    """func(part, ...) of the parts of `inputs` in the places of the leaves of `shallow_tree`, in its form.

    Further keyword arguments are passed on to `func`. Raises ValueError without inputs, and as
    assert_shallow_structure does.
    """
    if not inputs:
        raise ValueError("Cannot map over no sequences")
    options = check_types, expand_composites, check_subtrees_length
    flat = [flatten_up_to(shallow_tree, structure, *options) for structure in inputs]
    results = [func(*parts, **kwargs) for parts in zip(*flat, strict=True)]
    return nest.pack_sequence_as(shallow_tree, results, expand_composites)


@public("python.util.nest.get_traverse_shallow_structure")
def get_traverse_shallow_structure(traverse_fn, structure, expand_composites=False):
    """The shallow structure of bools that says how far `traverse_fn` goes into a structure.

    Args:
      traverse_fn: a function of a part: whether to go into it; for a sequence, or a sequence of such answers for its
        parts.
      structure: what is traversed.
      expand_composites: whether what stands for several tensors is nested.

    Raises:
      TypeError: if `traverse_fn` returns anything else.
    """
    answer = traverse_fn(structure)
    parts = _children(structure, expand_composites)
    if parts is None:
        if not isinstance(answer, bool):
            raise TypeError(f"traverse_fn returned structure: {answer} for non-structure: {structure}")
        return answer
    if answer is False:
        return False
    answers = [True] * len(parts) if answer is True else _answers(answer, structure, expand_composites)
    return _with_children(
        structure,
        [
            get_traverse_shallow_structure(traverse_fn, part, expand_composites) if goes_on else False
            for goes_on, part in zip(answers, parts, strict=True)
        ],
    )


def _answers(answer, structure, expand_composites):
    answers = _children(answer, expand_composites)
    if answers is None:
        raise TypeError(f"traverse_fn returned a non-bool scalar: {answer} for input: {structure}")
    assert_shallow_structure(answer, structure, expand_composites=expand_composites)
    for each in answers:
        if not isinstance(each, bool):
            raise TypeError(
                f"traverse_fn didn't return a depth=1 structure of bools.  saw: {answer}  for structure: {structure}"
            )
    return answers

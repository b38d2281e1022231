"""Nested structures of elements: what is a leaf, and what structures are of one form."""

import collections

import pytest

from stillflow.datasets import nest

Pair = collections.namedtuple("Pair", "left right")
STRUCTURE = {"b": [1, 2], "a": Pair(4, {"x": (5,)})}


def test_lists_are_leaves():
    assert nest.flatten(STRUCTURE) == [4, 5, [1, 2]]
    assert nest.pack_sequence_as(STRUCTURE, [1, 2, 3]) == {"b": 3, "a": Pair(1, {"x": (2,)})}
    assert nest.map_structure(str, STRUCTURE) == {"b": "[1, 2]", "a": Pair("4", {"x": ("5",)})}
    assert nest.map_structure(lambda a, b: (a, b), (1, 2), Pair(3, 4), check_types=False) == ((1, 3), (2, 4))


def test_shallow_structures():
    shallow = {"a": Pair(0, 0), "b": 0}
    assert nest.flatten_up_to(shallow, STRUCTURE) == [4, {"x": (5,)}, [1, 2]]
    assert nest.map_structure_up_to(shallow, lambda part: type(part), STRUCTURE) == {"a": Pair(int, dict), "b": list}
    nest.assert_shallow_structure((0, 0), Pair(1, 2))
    nest.assert_shallow_structure(Pair(0, 0), (1, 2), check_types=False)
    nest.assert_shallow_structure({"a": 0}, {"c": 1}, check_types=False)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nest.pack_sequence_as((1,), "ab"), TypeError, "flat_sequence must be a sequence"),
        (lambda: nest.pack_sequence_as((1,), [1, 2]), ValueError, "Structure had 1 elements"),
        (lambda: nest.map_structure(1, (1,)), TypeError, "func must be callable, got: 1"),
        (lambda: nest.map_structure(str), ValueError, "Must provide at least one structure"),
        (lambda: nest.map_structure(str, (1,), other=1), ValueError, "Only valid keyword argument is check_types"),
        (lambda: nest.map_structure_up_to((1,), str), ValueError, "Cannot map over no sequences"),
        (lambda: nest.assert_same_structure((1,), (1, 2)), ValueError, "same nested structure"),
        (lambda: nest.assert_same_structure((1,), 1), ValueError, "same nested structure"),
        (lambda: nest.assert_same_structure((1, 2), Pair(1, 2)), TypeError, "same sequence type"),
        (lambda: nest.assert_same_structure({"a": 1}, {"b": 1}), ValueError, "same set of keys"),
        (lambda: nest.assert_shallow_structure((1,), 1), TypeError, "input must also be a sequence. .*'int'"),
        (lambda: nest.assert_shallow_structure(Pair(1, 2), (1, 2)), TypeError, "same sequence type"),
        (lambda: nest.assert_shallow_structure((1,), (1, 2)), ValueError, "same sequence length"),
        (lambda: nest.assert_shallow_structure({"a": 1}, {"b": 1}), ValueError, "same keys"),
    ],
)
def test_misfits(call, error, message):
    with pytest.raises(error, match=message):
        call()

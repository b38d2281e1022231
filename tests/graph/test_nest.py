"""Nested structures, taken apart and put together."""

import collections

import pytest

import stillflow as tf
from stillflow.graph import nest, nest_paths, shallow_nest

Pair = collections.namedtuple("Pair", "left right")
STRUCTURE = {"b": [1, (2, 3)], "a": Pair(4, {"x": 5})}


def test_leaves_come_in_order():
    assert tf.nest.flatten(STRUCTURE) == [4, 5, 1, 2, 3]
    assert tf.nest.flatten(7) == [7]
    assert tf.nest.flatten([]) == []
    assert tf.nest.is_nested([]) and tf.nest.is_nested({}) and tf.nest.is_nested(()) and not tf.nest.is_nested("ab")


def test_structures_are_put_together():
    packed = tf.nest.pack_sequence_as(STRUCTURE, "d e a b c".split())
    assert packed == {"b": ["a", ("b", "c")], "a": Pair("d", {"x": "e"})}
    assert list(packed) == ["b", "a"]
    assert isinstance(packed["a"], Pair)
    ordered = collections.OrderedDict([("b", 1), ("a", 2)])
    assert list(tf.nest.map_structure(lambda x: -x, ordered).items()) == [("b", -1), ("a", -2)]
    default = collections.defaultdict(list, {"a": 1})
    assert tf.nest.map_structure(str, default).default_factory is list
    assert tf.nest.map_structure(lambda x, y: x + y, STRUCTURE, STRUCTURE)["b"] == [2, (4, 6)]
    assert tf.nest.map_structure(lambda x, y: x + y, [1], (2,), check_types=False) == [3]
    Other = collections.namedtuple("Pair", "left right")
    assert tf.nest.map_structure(lambda x, y: x - y, Pair(1, 2), Other(3, 5)) == Pair(-2, -3)


def test_composites_are_taken_apart_on_demand():
    slices = tf.IndexedSlices(*map(tf.constant, ([1.0], [2], [3])))
    parts = [slices.values, slices.indices, slices.dense_shape]
    assert nest.flatten([slices]) == [slices]
    assert nest.flatten([slices], expand_composites=True) == nest.components(slices) == parts
    (copy,) = nest.map_structure(tf.identity, [slices], expand_composites=True)
    assert isinstance(copy, tf.IndexedSlices) and copy.indices.op.inputs[0] is slices.indices
    assert nest.components("x") == ["x"]


def test_composites_have_the_structure_of_their_specification():
    slices = tf.IndexedSlices(*map(tf.constant, ([1.0], [2])))
    spec = tf.IndexedSlicesSpec(None, tf.float32, tf.int32)
    other = tf.IndexedSlicesSpec(None, tf.float64, tf.int32)
    for first, second in [(slices, spec), (spec, slices), (slices, slices)]:
        nest.assert_same_structure([first], [second], expand_composites=True)
        shallow_nest.assert_shallow_structure([first], [second], expand_composites=True)
    nest.assert_same_structure([slices], [1.0])
    for check in (nest.assert_same_structure, shallow_nest.assert_shallow_structure):
        with pytest.raises(ValueError, match="Incompatible CompositeTensor TypeSpecs: .* vs. .*"):
            check([slices], [other], expand_composites=True)
        with pytest.raises(TypeError, match="same sequence type"):
            check([slices], [[1.0, 2]], expand_composites=True)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: tf.nest.pack_sequence_as([1], 1), TypeError, "flat_sequence must be a sequence"),
        (lambda: tf.nest.pack_sequence_as(1, [1, 2]), ValueError, "Structure is a scalar"),
        (lambda: tf.nest.pack_sequence_as([1], [1, 2]), ValueError, "Structure had 1 elements, but .* 2 elements"),
        (lambda: tf.nest.map_structure(1, [1]), TypeError, "func must be callable"),
        (lambda: tf.nest.map_structure(str), ValueError, "Must provide at least one structure"),
        (lambda: tf.nest.map_structure(str, [1], other=1), ValueError, "Only valid keyword arguments"),
        (lambda: tf.nest.flatten({1: 1, "a": 2}), TypeError, "sortable"),
        (lambda: tf.nest.assert_same_structure([1], [1, 2]), ValueError, "same number of elements"),
        (lambda: tf.nest.assert_same_structure([1], [[1]]), ValueError, "is a sequence, while substructure"),
        (lambda: tf.nest.assert_same_structure([1], (1,)), TypeError, "same sequence type"),
        (lambda: tf.nest.assert_same_structure({"a": 1}, {"b": 1}), ValueError, "same set of keys"),
        (lambda: tf.nest.assert_same_structure(Pair(1, 2), (1, 2)), TypeError, "Entire first structure"),
    ],
)
def test_misfits(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_paths_to_leaves():
    structure = {"b": [1, (2, 3)], "a": Pair(4, {"x": 5}), "c": []}
    places = [(("a", "left"), 4), (("a", "right", "x"), 5), (("b", 0), 1), (("b", 1, 0), 2), (("b", 1, 1), 3)]
    assert nest_paths.flatten_with_tuple_paths(structure) == places
    assert nest_paths.flatten_with_tuple_paths(7) == [((), 7)]
    assert nest_paths.flatten_with_joined_string_paths(structure, ".")[1] == ("a.right.x", 5)
    assert nest_paths.flatten_with_tuple_paths_up_to({"a": 0}, {"a": [2, 3]}) == [(("a",), [2, 3])]
    mapped = nest_paths.map_structure_with_paths(lambda path, x, y, z=0: (path, x + y + z), structure, structure, z=1)
    assert mapped["b"] == [("b/0", 3), (("b/1/0", 5), ("b/1/1", 7))]
    sparse = tf.SparseTensor([[0]], [1.0], [2])
    paths = [path for path, _ in nest_paths.flatten_with_tuple_paths([sparse], expand_composites=True)]
    assert paths == [(0, "SparseTensor", 0), (0, "SparseTensor", 1), (0, "SparseTensor", 2)]
    assert nest_paths.is_sequence_or_composite(sparse) and not nest_paths.is_sequence_or_composite("ab")
    with pytest.raises(TypeError, match="don't have the same sequence type"):
        nest_paths.map_structure_with_paths(lambda path, x, y: x, structure, [1])


def test_keys_that_are_nested_are_taken_apart():
    found = nest_paths.flatten_dict_items({(1, 2): (3, 4), 5: 6, (7, (8, 9)): (1, (2, 3))})
    assert found == {1: 3, 2: 4, 5: 6, 7: 1, 8: 2, 9: 3}
    with pytest.raises(ValueError, match="Key had 2 elements, but value had 1 elements"):
        nest_paths.flatten_dict_items({(1, 2): 3})
    with pytest.raises(ValueError, match="key 1 is not unique"):
        nest_paths.flatten_dict_items({(1, 2): (3, 4), 1: 2})
    with pytest.raises(TypeError, match="input must be a dictionary"):
        nest_paths.flatten_dict_items([1])

"""TypeSpec and its descendants: what they are compatible with, have in common, consist of and look like."""

import copy
import pickle

import numpy as np
import pytest

import stillflow as tf
from stillflow.graph import nest
from stillflow.graph.composite_tensor import CompositeTensor, replace_composites_with_components
from stillflow.graph.type_spec import TypeSpec, register_type_spec_from_value_converter, type_spec_from_value


def ragged():
    return tf.RaggedTensor.from_row_splits(tf.constant([1, 2, 3]), tf.constant([0, 2, 3], tf.int64))


def sparse():
    return tf.SparseTensor([[0, 1]], [1.0], [2, 3])


def slices():
    return tf.IndexedSlices(tf.zeros([2, 5]), tf.constant([0, 3]), tf.constant([7, 5]))


# Each as TensorFlow 1.15.5 prints it.
PRINTED = [
    (lambda: tf.TensorSpec([None, 2]), "TensorSpec(shape=(?, 2), dtype=tf.float32, name=None)"),
    (lambda: tf.TensorSpec(None, tf.string, "x"), "TensorSpec(shape=<unknown>, dtype=tf.string, name='x')"),
    (
        lambda: tf.SparseTensorSpec([1, None]),
        "SparseTensorSpec(TensorShape([Dimension(1), Dimension(None)]), tf.float32)",
    ),
    (
        lambda: tf.RaggedTensorSpec([None, None], tf.int32),
        "RaggedTensorSpec(TensorShape([Dimension(None), Dimension(None)]), tf.int32, 1, tf.int64)",
    ),
    (
        lambda: tf.IndexedSlicesSpec(),
        "IndexedSlicesSpec(TensorShape(None), tf.float32, tf.int64, None, TensorShape([Dimension(None)]))",
    ),
    (lambda: tf.TensorArraySpec(), "TensorArraySpec(TensorShape(None), tf.float32, False, True)"),
    (
        lambda: tf.data.DatasetSpec(tf.TensorSpec([])),
        "DatasetSpec(TensorSpec(shape=(), dtype=tf.float32, name=None), TensorShape([]))",
    ),
]


@pytest.mark.parametrize(("make", "printed"), PRINTED, ids=[printed.split("(")[0] for _, printed in PRINTED])
def test_a_specification_is_a_value(make, printed):
    spec = make()
    assert repr(spec) == printed
    for other in (
        make(),
        pickle.loads(pickle.dumps(spec)),
        copy.deepcopy(spec),
        spec._deserialize(spec._serialize()),
    ):
        assert spec == other and hash(spec) == hash(other)
        assert spec.is_compatible_with(other) and spec.most_specific_compatible_type(other) == spec
    assert isinstance(spec, tf.TypeSpec) and spec != printed
    assert not tf.TensorSpec([], tf.variant).is_compatible_with(spec)
    with pytest.raises(ValueError, match="compatible"):
        spec.most_specific_compatible_type(tf.TensorSpec([], tf.half))


@pytest.mark.parametrize("make", [ragged, sparse, slices])
def test_components_make_the_value_again(make):
    value = make()
    spec = value._type_spec
    assert type_spec_from_value(value) == spec and spec.value_type is type(value)
    assert spec.is_compatible_with(value)
    tensors = nest.flatten(value, expand_composites=True)
    specs = nest.flatten(spec, expand_composites=True)
    assert all(each.is_compatible_with(tensor) for each, tensor in zip(specs, tensors, strict=True))
    again = nest.pack_sequence_as(spec, tensors, expand_composites=True)
    assert type(again) is type(value)
    assert nest.flatten(again, expand_composites=True) == tensors
    assert replace_composites_with_components([value]) == [spec._to_components(value)]
    assert value._is_graph_tensor and value.consumers() == []
    reader = tf.identity(tensors[0])
    assert value.consumers() == [reader.op]
    with tf.compat.v1.Session() as session:
        arrays = session.run(tensors)
        fetched = session.run(value)
        back = session.run(value, {value: fetched})
    assert repr(fetched) == repr(back) == repr(nest.pack_sequence_as(spec, arrays, expand_composites=True))


def test_shapes_are_what_common_types_may_differ_in():
    for kind in (tf.TensorSpec, tf.SparseTensorSpec):
        first, second = kind([3, 4, None]), kind([3, None, 5])
        assert first.is_compatible_with(second) and not first.is_compatible_with(kind([2, 4, 5]))
        assert first.most_specific_compatible_type(second) == kind([3, None, None])
        assert first.most_specific_compatible_type(kind([1])) == kind(None)
        with pytest.raises(ValueError, match="Types are not compatible: .* vs .*"):
            first.most_specific_compatible_type(kind([3, 4, 5], tf.int32))
    named = tf.TensorSpec([1], name="x").most_specific_compatible_type(tf.TensorSpec([2], name="y"))
    assert named == tf.TensorSpec([None]) and named.name is None
    arrays = tf.TensorArraySpec([1], infer_shape=False).most_specific_compatible_type(tf.TensorArraySpec())
    assert arrays == tf.TensorArraySpec(None, infer_shape=False)


def test_ragged_ranks():
    assert tf.RaggedTensorSpec([None, None, 3])._ragged_rank == 2
    assert tf.RaggedTensorSpec(None, ragged_rank=0).value_type is tf.Tensor
    with pytest.raises(ValueError, match="Must specify ragged_rank or a shape with a known rank"):
        tf.RaggedTensorSpec()
    with pytest.raises(ValueError, match="ragged_rank must be less than rank"):
        tf.RaggedTensorSpec([None], ragged_rank=1)
    with pytest.raises(TypeError, match="ragged_rank must be an int"):
        tf.RaggedTensorSpec(ragged_rank="1")
    flat = tf.RaggedTensorSpec([5, None, None, 3], tf.int32)._component_specs
    assert flat == [tf.TensorSpec([None, 3] if len(flat) == 3 else [None], tf.int32)] + [
        tf.TensorSpec([6], tf.int64), tf.TensorSpec([None], tf.int64), *flat[3:],
    ]  # fmt: skip


def test_tensors_are_checked_before_they_carry_a_value():
    spec = tf.TensorSpec([None], tf.int32)
    assert spec._from_tensor_list([tf.constant([1])]).shape == [1]
    with pytest.raises(ValueError, match="wrong number of tensors"):
        spec._from_tensor_list([])
    with pytest.raises(ValueError, match=r"tensor 0 \(.*\) is incompatible with TensorSpec"):
        spec._from_tensor_list([tf.constant(1.0)])
    with pytest.raises(ValueError, match="not convertible to a tensor with dtype <dtype: 'int32'> and shape"):
        spec._to_components([[1]])


def test_values_that_convert_to_tensors_have_a_specification():
    assert type_spec_from_value([1, 2]) == tf.TensorSpec([2], tf.int32)
    assert type_spec_from_value(np.zeros([2, 3])) == tf.TensorSpec([2, 3], tf.float64)
    items = [ragged(), ragged()]
    assert type_spec_from_value(items) == tf.RaggedTensorSpec([2, 2, None], tf.int32)
    with pytest.raises(TypeError, match="Could not build a TypeSpec for <object .* with type object"):
        type_spec_from_value(object())


class Pair(CompositeTensor):
    """Two tensors, with a word that is not one."""

    def __init__(self, first, second, word):
        self.first, self.second, self.word = first, second, word

    @property
    def _type_spec(self):
        return PairSpec(tf.TensorSpec(self.first.shape), tf.TensorSpec(self.second.shape), self.word)


class PairSpec(TypeSpec):
    def __init__(self, first, second, word):
        self._state = first, second, word

    value_type = Pair

    def _serialize(self):
        return self._state

    @property
    def _component_specs(self):
        return {"first": self._state[0], "second": (self._state[1],)}

    def _to_components(self, value):
        return {"first": value.first, "second": (value.second,)}

    def _from_components(self, components):
        return Pair(components["first"], components["second"][0], self._state[2])


class Word:
    pass


def test_programs_may_have_composites_of_their_own():
    pair = Pair(tf.constant(1.0), tf.constant([2.0]), "a")
    doubled = nest.map_structure(lambda x: 2 * x, pair, expand_composites=True)
    assert isinstance(doubled, Pair) and doubled.word == "a"
    with tf.compat.v1.Session() as session:
        fetched = session.run(doubled)
    assert (fetched.first, fetched.second.tolist()) == (2.0, [4.0])
    spec = pair._type_spec
    assert not spec.is_compatible_with(Pair(pair.first, pair.second, "b"))
    assert spec.is_compatible_with(PairSpec(tf.TensorSpec([]), tf.TensorSpec([None]), "a"))
    rounds = tf.while_loop(lambda i, p: i < 3, lambda i, p: (i + 1, doubled_of(p)), [0, pair])
    with tf.compat.v1.Session() as session:
        assert session.run(rounds[1].second) == [16.0]
    with pytest.raises(TypeError, match="To describe or constrain a Pair, use a PairSpec instead of a TensorShape"):
        tf.while_loop(
            lambda p: True, lambda p: p, [pair], shape_invariants=[tf.TensorShape([])]
        )  # fmt: skip


def doubled_of(pair):
    return Pair(2 * pair.first, 2 * pair.second, pair.word)


def test_a_converter_specifies_other_classes():
    register_type_spec_from_value_converter(Word, lambda word: tf.TensorSpec([7]), allow_subclass=False)
    assert type_spec_from_value(Word()) == tf.TensorSpec([7])
    with pytest.raises(TypeError, match="Could not build a TypeSpec"):
        type_spec_from_value(type("Other", (Word,), {})())


def test_abstract_specifications_say_what_they_lack():
    with pytest.raises(NotImplementedError, match="TypeSpec.value_type"):
        repr(TypeSpec().value_type)
    with pytest.raises(NotImplementedError, match=r"TypeSpec._serialize\(\)"):
        hash(TypeSpec())


def test_bounds():
    spec = tf.contrib.framework.BoundedTensorSpec([1, 2], tf.float32, 0, (5, 6))
    assert spec.minimum == 0 and spec.maximum.tolist() == [5, 6] and not spec.maximum.flags.writeable
    same = tf.contrib.framework.BoundedTensorSpec([1, 2], tf.float32, 0, (5, 6 + 1e-7))
    assert spec == same and hash(spec) == hash(same)
    assert spec != tf.contrib.framework.BoundedTensorSpec([1, 2], tf.float32, 1, (5, 6))
    assert repr(tf.contrib.framework.BoundedTensorSpec((), tf.int32, 0, 1)) == (
        "BoundedTensorSpec(shape=(), dtype=tf.int32, name=None, minimum=array(0, dtype=int32), "
        "maximum=array(1, dtype=int32))"
    )
    of_type = tf.contrib.framework.BoundedTensorSpec.from_spec(tf.TensorSpec([2], tf.uint8, "x"))
    assert (of_type.minimum, of_type.maximum, of_type.name) == (0, 255, "x")
    assert pickle.loads(pickle.dumps(spec)) == spec
    for bounds in [(0, None), ([0, 0, 0], 1), (0, [1, 1, 1])]:
        with pytest.raises(ValueError, match="minimum|maximum"):
            tf.contrib.framework.BoundedTensorSpec([1, 2], tf.float32, *bounds)

"""StructuredValue messages of nested structures."""

import collections

import pytest

import stillflow as tf
from stillflow.graph import nest
from stillflow.graph.structure_coder import NotEncodableError, StructureCoder

Point = collections.namedtuple("Point", ["x", "y"])

# The bytes that TensorFlow 1.15.5 writes.
CASES = [
    pytest.param(
        (1, 2.5, "text", None, True),
        "a2031f0a0260020a095900000000000004400a066a04746578740a020a000a027001",
        id="plain",
    ),
    pytest.param(
        {"list": [1, [2]], "point": Point(3, (4,))},
        "aa03460a180a046c69737412109a030d0a0260020a079a03040a0260040a2a0a05706f696e741221b2031e0a05506f69"
        "6e7412070a017812026006120c0a01791207a203040a026008",
        id="nested",
    ),
    pytest.param(
        [tf.float32, tf.TensorShape([1, None]), tf.TensorShape(None)],
        "9a03220a038002010a14fa011112020801120b08ffffffffffffffffff010a05fa01021801",
        id="types",
    ),
    pytest.param(
        [tf.TensorSpec([2], tf.int32, "name"), tf.TensorSpec(None, tf.string)],
        "9a031e0a118a020e0a046e616d6512041202080218030a098a0206120218011807",
        id="specs",
    ),
    pytest.param(
        tf.SparseTensorSpec([None, 2], tf.float32),
        "9202340801121ea2031b0a14fa0111120b08ffffffffffffffffff01120208020a038002011a1053706172736554656e"
        "736f7253706563",
        id="sparse",
    ),
    pytest.param(
        tf.RaggedTensorSpec([2, None], tf.int32, 1, tf.int64),
        "92023d08031227a203240a14fa011112020802120b08ffffffffffffffffff010a038002030a0260020a038002091a10"
        "52616767656454656e736f7253706563",
        id="ragged",
    ),
    pytest.param(
        tf.IndexedSlicesSpec([None, 3], tf.float32, tf.int32, dense_shape_dtype=tf.int64),
        "9202510802123aa203370a14fa0111120b08ffffffffffffffffff01120208030a038002010a038002030a038002090a"
        "10fa010d120b08ffffffffffffffffff011a11496e6465786564536c6963657353706563",
        id="slices",
    ),
    pytest.param(
        tf.TensorArraySpec([3], tf.float32, True, False),
        "92022e08041219a203160a07fa0104120208030a038002010a0270010a0270001a0f54656e736f72417272617953706563",
        id="array",
    ),
    pytest.param(
        tf.data.DatasetSpec({"a": tf.TensorSpec([], tf.int64)}),
        "92022c0805121ba203180a11aa030e0a0c0a016112078a0204120018090a03fa01001a0b4461746173657453706563",
        id="dataset",
    ),
]


@pytest.mark.parametrize(("structure", "message"), CASES)
def test_the_message_of_a_structure_is_that_of_tensorflow(structure, message):
    proto = StructureCoder().encode_structure(structure)
    assert proto.SerializeToString(deterministic=True).hex() == message


@pytest.mark.parametrize("structure", [case.values[0] for case in CASES])
def test_a_structure_comes_back(structure):
    coder = StructureCoder()
    assert coder.can_encode(structure)
    decoded = coder.decode_proto(coder.encode_structure(structure))
    if isinstance(structure, (list, tuple, dict)):
        nest.assert_same_structure(structure, decoded, check_types=False)
        # Shapes of unknown rank are equal to none, but are written alike.
        assert list(map(repr, nest.flatten(decoded))) == list(map(repr, nest.flatten(structure)))
    else:
        assert decoded == structure


def test_a_named_tuple_comes_back_with_its_name():
    coder = StructureCoder()
    decoded = coder.decode_proto(coder.encode_structure(Point(1, [2])))
    assert type(decoded).__name__ == "Point"
    assert decoded._asdict() == {"x": 1, "y": [2]}


def test_other_objects_have_no_message():
    coder = StructureCoder()
    assert not coder.can_encode([object()])
    with pytest.raises(NotEncodableError, match=r"No encoder for object \[<object"):
        coder.encode_structure([object()])


def test_a_specification_of_a_later_version_is_refused():
    coder = StructureCoder()
    proto = coder.encode_structure(tf.SparseTensorSpec([2], tf.float32))
    proto.type_spec_value.type_spec_class = 0
    with pytest.raises(ValueError, match="is not supported by this version of TensorFlow"):
        coder.decode_proto(proto)

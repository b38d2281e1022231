"""Messages of TensorFlow: constants in its encodings, NodeDefs, GraphDefs, OpDefs."""

import json
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.formats import protobuf
from stillflow.graph import attr_value, tensor_proto
from stillflow.graph.python_values import make_tensor_value

DATA = Path(__file__).parent.parent / "data" / "formats"
CONSTANTS = json.loads((DATA / "consts.json").read_text())["tensors"]


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_are_read_and_written_as_tensorflow_writes_them(name):
    expected = CONSTANTS[name]
    data = bytes.fromhex(expected["bytes"])
    proto = protobuf.message("TensorProto").FromString(data)
    value = tensor_proto.from_message(proto)
    assert value.dtype.name == expected["dtype"] and list(value.dims) == expected["shape"]
    assert protobuf.to_bytes(tensor_proto.to_message(value)) == data
    array = value.array()
    assert array.shape == tuple(expected["shape"])
    if value.dtype.is_integer or value.dtype is tf.bool:
        assert array.ravel().tolist() == expected["values"]


@pytest.mark.parametrize(
    ("values", "dtype", "shape", "field"),
    [
        ([1.0, 2.0], None, None, "tensor_content"),
        (3.0, None, [2, 3], "float_val"),
        ([1.0, 2.0], tf.float32, [5], "float_val"),
        ([True, False], None, None, "bool_val"),
        ([1.0, 2.0], tf.float16, None, "half_val"),
        (["a", "b"], None, None, "string_val"),
        (2**40, None, None, "int64_val"),
        ([-1, 2], tf.int8, None, "tensor_content"),
    ],
)
def test_encoding_depends_on_the_values(values, dtype, shape, field):
    proto = tensor_proto.to_message(make_tensor_value(values, dtype, shape))
    assert [each.name for each, _ in proto.ListFields() if each.name not in ("dtype", "tensor_shape")] == [field]


@pytest.mark.parametrize(
    "fields",
    [
        {"dtype": 1, "tensor_content": b"abc"},
        {"dtype": 7, "tensor_content": b"abcd"},
        {"dtype": 20, "int_val": [1]},
    ],
)
def test_constants_that_contradict_themselves_are_refused(fields):
    with pytest.raises(ValueError, match="Cannot parse tensor from proto"):
        tensor_proto.from_message(protobuf.message("TensorProto")(**fields))


@pytest.mark.parametrize("sizes", [[-2], [2**40, 2**40]])
def test_shapes_that_are_none_are_refused(sizes):
    proto = protobuf.message("TensorProto")(dtype=1)
    for size in sizes:
        proto.tensor_shape.dim.add().size = size
    with pytest.raises(ValueError, match="Cannot parse tensor from proto"):
        tensor_proto.from_message(proto)


@pytest.mark.parametrize(
    "value",
    [1, 2.5, True, b"s", tf.float32, tf.TensorShape([1, None]), (), (1, 2), (b"a",), (tf.int32, tf.bool), (True,)],
)
def test_attributes_survive_the_way_there_and_back(value):
    proto = protobuf.message("AttrValue")()
    attr_value.set_message(proto, value)
    back = attr_value.from_message(proto)
    assert back == value and type(back) is type(value)


def test_graph_def_of_a_small_graph(new_graph):
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.control_dependencies([x]):
        tf.add(x, [1.0, 2.0], name="y")
    proto = new_graph.as_graph_def(add_shapes=True)
    assert proto.versions.producer == 134
    assert [(node.name, node.op, list(node.input)) for node in proto.node] == [
        ("x", "Placeholder", []),
        ("y/y", "Const", ["^x"]),
        ("y", "Add", ["x", "y/y"]),
    ]
    assert [dim.size for dim in proto.node[0].attr["_output_shapes"].list.shape[0].dim] == [-1, 2]
    assert np.array_equal(tensor_proto.from_message(proto.node[1].attr["value"].tensor).array(), [1, 2])
    assert len(new_graph.as_graph_def(from_version=2).node) == 1


def test_op_def_tells_what_tensorflow_tells():
    op_def = tf.add(1.0, 2.0).op.op_def
    assert op_def.name == "Add" and [arg.type_attr for arg in op_def.input_arg] == ["T", "T"]
    assert tf.float32.as_datatype_enum in op_def.attr[0].allowed_values.list.type


def test_lists_of_integers_take_booleans_of_numpy():
    values = np.array([True, False])
    assert list(tf.train.Int64List(value=values).value) == list(tf.train.Int64List(value=[*values]).value) == [1, 0]
    with pytest.raises(TypeError):
        tf.train.Int64List(value=np.array([1.5]))

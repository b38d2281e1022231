"""tf.test.assert_equal_graph_def: the first difference between two GraphDefs, in TensorFlow's words."""

from __future__ import annotations

import re

import numpy as np

from stillflow.formats import protobuf
from stillflow.graph import dtypes, tensor_proto
from stillflow.graph.shape import TensorShape
from stillflow.names import public

_TEMPORARY_FILE = re.compile(rb"_temp_[0-9a-z]{32}/part")
_TABLE_NAME = re.compile(rb"hash_table_[0-9a-z\-]+")
_MOST_VALUES = 3
_LONG_LIST = 15
_LONG_STRING = 80


@public("test.assert_equal_graph_def")
def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Raises AssertionError unless two GraphDefs have the same nodes, by name and in any order.

    Versions, the order of control inputs, and attributes whose names begin with "_" do not count.

    Args:
      actual: a GraphDef.
      expected: a GraphDef.
      checkpoint_v2: whether to take the random names of temporary files out of both.
      hash_table_shared_name: whether to take the random names of hash tables out of both.

    Raises TypeError for anything but a GraphDef.
    """
    graph_def = protobuf.message("GraphDef")
    for name, value in (("actual", actual), ("expected", expected)):
        if not isinstance(value, graph_def):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(value).__name__}")
    for value in (actual, expected):
        if checkpoint_v2:
            _drop(value, lambda node, attr: any(_TEMPORARY_FILE.match(text) for text in attr.tensor.string_val[:1]))
        if hash_table_shared_name:
            _drop(value, lambda node, attr: node.op == "HashTableV2" and _TABLE_NAME.match(attr.s))
    difference = _difference(actual, expected)
    if difference:
        raise AssertionError(difference)


def _drop(graph_def, is_random):
    for node in graph_def.node:
        for key in [key for key, attr in node.attr.items() if is_random(node, attr)]:
            del node.attr[key]


def _difference(actual, expected):
    found = {node.name: node for node in actual.node}
    for node in expected.node:
        if node.name not in found:
            return f"Did not find expected node '{_node_text(node)}'"
        difference = _node_difference(found.pop(node.name), node)
        if difference:
            return difference
    for node in found.values():
        return f"Found unexpected node '{_node_text(node)}'"
    return None


def _node_difference(actual, expected):
    who = f"Node named '{actual.name}'"
    if actual.op != expected.op:
        return f"{who} has op '{actual.op}' that is not expected '{expected.op}'"
    if actual.device != expected.device:
        return f"{who} has device '{actual.device}' that is not expected '{expected.device}'"
    if len(actual.input) != len(expected.input):
        return f"{who} has inputs '{', '.join(actual.input)}' that don't match expected '{', '.join(expected.input)}'"
    for i, (found, wanted) in enumerate(zip(actual.input, expected.input, strict=True)):
        if wanted.startswith("^"):
            break
        if found != wanted:
            return f"{who} has input {i} '{found}' that doesn't match expected '{wanted}'"
    for name in expected.input:
        if name.startswith("^") and name not in actual.input:
            return f"{who} missing expected control input '{name}'"
    for name in actual.input:
        if name.startswith("^") and name not in expected.input:
            return f"{who} has unexpected control input '{name}'"
    for key in sorted(actual.attr):
        if key.startswith("_"):
            continue
        if key not in expected.attr:
            return f"{who} has unexpected attr '{key}' with value: {_attr_text(actual.attr[key])}"
        if not _are_equal(actual.attr[key], expected.attr[key]):
            return (
                f"{who} has attr '{key}' with value: {_attr_text(actual.attr[key])} that does not match expected: "
                f"{_attr_text(expected.attr[key])}"
            )
    for key in sorted(expected.attr):
        if not key.startswith("_") and key not in actual.attr:
            return f"{who} missing expected attr '{key}' with value: {_attr_text(expected.attr[key])}"
    return None


def _are_equal(a, b):
    if a == b:
        return True
    if a.WhichOneof("value") != "tensor" or b.WhichOneof("value") != "tensor":
        return False
    # There are several ways to write one tensor into a message.
    left, right = tensor_proto.from_message(a.tensor), tensor_proto.from_message(b.tensor)
    if (left.dtype, left.dims) != (right.dtype, right.dims):
        return False
    return left.array().tolist() == right.array().tolist()


# ---- As text ------------------------------------------------------------------------------------------------------


def _node_text(node):
    attrs = [f"{key}={_attr_text(node.attr[key])}" for key in sorted(node.attr)]
    if node.device:
        attrs.append(f'_device="{node.device}"')
    return f"{{{{node {node.name}}}}} = {node.op}[{', '.join(attrs)}]({', '.join(node.input)})"


def _attr_text(attr):
    kind = attr.WhichOneof("value")
    if kind is None:
        return "<Unknown AttrValue type>"
    if kind == "placeholder":
        return f"${attr.placeholder}"
    if kind != "list":
        return _text(kind, getattr(attr, kind))
    texts = [_text(field.name, item) for field, items in attr.list.ListFields() for item in items]
    if len(texts) >= _LONG_LIST:
        texts = [*texts[:5], "...", *texts[-5:]]
    return f"[{', '.join(texts)}]"


def _text(kind, value):
    if kind == "s":
        text = "".join(_escaped(byte) for byte in value)
        return f'"{text[:10]}...{text[-10:]}"' if len(text) >= _LONG_STRING else f'"{text}"'
    if kind == "b":
        return "true" if value else "false"
    if kind == "f":
        short = f"{value:.6g}"
        return short if np.float32(short) == np.float32(value) else f"{np.float32(value):.9g}"
    if kind == "type":
        return next(name for name, number in protobuf.enum("DataType").items() if number == value)
    if kind == "shape":
        return _shape_text(value)
    if kind == "tensor":
        return _tensor_text(value)
    if kind == "func":
        attrs = ", ".join(f"{key}={_attr_text(value.attr[key])}" for key in sorted(value.attr))
        return f"{value.name}[{attrs}]"
    return str(value)


def _escaped(byte):
    special = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}
    return special.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")


def _shape_text(proto):
    shape = TensorShape(proto)
    if shape.rank is None:
        return "<unknown>"
    return f"[{','.join('?' if dim is None else str(dim) for dim in shape.as_list())}]"


def _tensor_text(proto):
    dtype = dtypes.as_dtype(proto.dtype)
    array = tensor_proto.from_message(proto).array()
    return f"Tensor<type: {dtype._c_name} shape: {_shape_text(proto.tensor_shape)} values: {_values_text(array)}>"


def _values_text(array):
    """The first elements: "1 2 3...", and in brackets for each row of a matrix."""
    values = array.ravel()[:_MOST_VALUES].tolist()
    texts = [v.decode("latin-1") if isinstance(v, bytes) else _number_text(v, array.dtype) for v in values]
    if array.ndim < 2:
        return " ".join(texts) + ("..." if array.size > len(texts) else "")
    return _rows_text(array.shape, texts) + ("..." if array.size > len(texts) else "")


def _number_text(value, dtype):
    if isinstance(value, bool):
        return "1" if value else "0"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _rows_text(shape, texts):
    """Nested brackets with as many of the elements as there are texts."""
    width = int(np.prod(shape[1:]))
    rows = []
    for start in range(0, len(texts), max(width, 1)):
        own = texts[start : start + width]
        if len(shape) > 2:
            rows.append(f"[{_rows_text(shape[1:], own)}]")
        else:
            rows.append(f"[{' '.join(own)}{'' if len(own) == width else '...'}]")
    return "".join(rows)

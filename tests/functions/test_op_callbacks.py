"""op_callback: what callbacks see, and what they put in the place of results."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.graph.op_callbacks import op_callback


def test_nodes_are_shown_with_their_attributes_and_can_be_replaced():
    seen = []

    def doubled(op_type, inputs, attrs, outputs, op_name=None, graph=None):
        seen.append((op_type, op_name, len(inputs), dict(zip(attrs[::2], attrs[1::2], strict=True)), graph))
        return [output * 2 for output in outputs] if op_type == "Cos" else None

    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32)
        with op_callback(doubled):
            y = tf.cos(x, name="y")
        z = tf.sin(y)
        with tf.Session() as session:
            assert session.run([y, z], {x: 0.0}) == [2.0, np.sin(np.float32(2.0))]
    assert [(kind, name, count) for kind, name, count, _, _ in seen] == [("Cos", "y", 1)]
    assert seen[0][3]["T"].type == tf.float32.as_datatype_enum
    assert seen[0][4] is graph


def test_the_innermost_callback_is_called_first_and_its_own_operations_are_not_shown():
    order = []

    def callback(name):
        def see(op_type, inputs, attrs, outputs, op_name=None, graph=None):
            order.append((name, op_type))
            tf.sin(outputs[0])
            return outputs

        return see

    with tf.Graph().as_default(), op_callback(callback("outer")), op_callback(callback("inner")):
        tf.cos(tf.placeholder(tf.float32))
    assert order == [("inner", "Cos"), ("outer", "Cos")]


def test_wrong_callbacks():
    with pytest.raises(ValueError, match="expected to be callable"):
        op_callback(3)
    with pytest.raises(ValueError, match="cannot be None"):
        op_callback(None)
    with (
        tf.Graph().as_default(),
        op_callback(lambda *args, **kwargs: (1, 2)),
        pytest.raises(ValueError, match=r"returned 2 tensors, which does not match .* Cos_? ?\(1\)"),
    ):
        tf.cos(tf.placeholder(tf.float32))

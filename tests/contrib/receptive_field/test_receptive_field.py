"""tf.contrib.receptive_field against sizes that are worked out by hand."""

import numpy as np
import pytest

import stillflow as tf

compute = tf.contrib.receptive_field.compute_receptive_field_from_graph_def


def _conv(x, size, stride, padding, name):
    weights = tf.Variable(tf.zeros([size, size, 1, 1]), name=f"{name}_weights")
    return tf.nn.conv2d(x, weights, [1, stride, stride, 1], padding, name=name)


def test_two_convolutions():
    x = tf.placeholder(tf.float32, [None, None, None, 1], name="x")
    hidden = tf.nn.relu(_conv(x, 3, 2, "VALID", "a"))
    y = _conv(hidden, 5, 1, "SAME", "b")
    found = compute(tf.get_default_graph(), x, y)
    # 3 + (5 - 1) * 2 pixels, 2 apart, of which two elements of the hidden map lie outside.
    assert [int(number) for number in found] == [11, 11, 2, 2, 4, 4]
    np.testing.assert_array_equal(found.compute_input_center_coordinates([[0, 1]]), [[1.0, 3.0]])
    np.testing.assert_array_equal(found.compute_feature_coordinates([[1.0, 3.0]]), [[0, 1]])
    with pytest.raises(ValueError, match="does not match dimensionality of `axis`"):
        found.compute_feature_coordinates([1.0], axis=[0, 1])


def test_padding_may_depend_on_the_resolution():
    x = tf.placeholder(tf.float32, [None, None, None, 1], name="x")
    y = _conv(x, 3, 2, "SAME", "a")
    assert compute(tf.get_default_graph(), x, y).padding.tolist() == [None, None]
    for size, padding in ((8, 0), (9, 1)):
        found = compute(tf.get_default_graph().as_graph_def(), "x", "a", input_resolution=[size, size])
        assert found.padding.tolist() == [padding, padding]


def test_ways_that_see_different_parts_are_refused():
    x = tf.placeholder(tf.float32, [None, None, None, 1], name="x")
    y = tf.add(_conv(x, 1, 2, "VALID", "a"), _conv(_conv(x, 1, 1, "VALID", "b"), 1, 1, "VALID", "c"), name="y")
    with pytest.raises(ValueError, match="effective stride from different paths"):
        compute(tf.get_default_graph(), x, y)
    assert compute(tf.get_default_graph(), x, y, stop_propagation=["a"]).stride.tolist() == [1, 1]


def test_nodes_that_there_are_not():
    x = tf.placeholder(tf.float32, [None, None, None, 1], name="x")
    y = tf.sin(_conv(x, 3, 1, "VALID", "a"), name="y")
    with pytest.raises(ValueError, match="Unknown layer for operation 'y': Sin"):
        compute(tf.get_default_graph(), x, y)
    with pytest.raises(ValueError, match="Output node was not found"):
        compute(tf.get_default_graph(), x, "other")


def test_the_order_of_nodes():
    x = tf.placeholder(tf.float32, [1, 8, 8, 1], name="x")
    _conv(x, 3, 2, "VALID", "a")
    infos, nodes = tf.contrib.receptive_field.get_compute_order(tf.get_default_graph().as_graph_def(), "x", [8, 8])
    assert infos["x"].order == 0
    assert infos["a"].output_size == [3, 3]
    assert infos["a"].order > infos["a_weights"].order
    assert nodes["a"].op == "Conv2D"

"""The registry of gradients, as libraries read and change it."""

import numpy as np
import pytest
from stillflow.python.framework import ops
from stillflow.python.ops import gradients_util  # noqa: F401  programs look for inner functions in it

import stillflow as tf

ENTRIES = ops._gradient_registry._registry


def gradient_of(function):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([-1.0, 2.0])
        return session.run(tf.gradients(function(x), x)[0]).tolist()


def test_a_gradient_is_replaced_for_a_while():
    before = ENTRIES["Relu"]["type"]
    ENTRIES["Relu"]["type"] = lambda op, grad: grad * 3.0
    try:
        assert gradient_of(tf.nn.relu) == [3.0, 3.0]
    finally:
        ENTRIES["Relu"]["type"] = before
    assert gradient_of(tf.nn.relu) == [0.0, 1.0]
    assert ENTRIES["Relu"]["type"] is before is ops._gradient_registry.lookup("Relu")


def test_a_gradient_comes_and_goes():
    ENTRIES["NotForLong"] = {"type": lambda op, grad: -grad, "location": ENTRIES["Relu"]["location"]}
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.constant([1.0])
        with graph.gradient_override_map({"Identity": "NotForLong"}):
            y = tf.identity(x)
        np.testing.assert_array_equal(session.run(tf.gradients(y, x)[0]), [-1.0])
    del ENTRIES["NotForLong"]
    assert "NotForLong" not in ENTRIES
    with pytest.raises(LookupError, match="gradient registry has no entry for: NotForLong"):
        ops._gradient_registry.lookup("NotForLong")
    with pytest.raises(KeyError):
        ENTRIES["NotForLong"]


def test_what_is_registered():
    names = ops._gradient_registry.list()
    assert {"MatMul", "Conv2D", "Shape"} <= set(names) and ENTRIES["Shape"]["type"] is None
    with pytest.raises(KeyError, match="Registering two gradient with name 'MatMul'!"):
        ops._gradient_registry.register(gradient_of, "MatMul")

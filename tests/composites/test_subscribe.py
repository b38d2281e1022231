"""Nodes that run whenever somebody reads a tensor."""

import pytest

import stillflow as tf
from stillflow.composites.subscribe import is_subscribed_identity, subscribe


def _listener(heard):
    return lambda tensor: tf.py_func(lambda value: heard.append(int(value)) or value, [tensor], [tensor.dtype])


def test_readers_and_followers_of_a_tensor_tell_the_listener():
    total = tf.constant(1) + tf.constant(2)
    negative = -total
    with tf.control_dependencies([total]):
        after = tf.constant(42)
    heard = []
    subscribed = subscribe(total, _listener(heard))
    assert is_subscribed_identity(subscribed)
    assert after.op.control_inputs == [subscribed.op]
    with tf.Session() as session:
        assert [session.run(each) for each in (subscribed, negative, after)] == [3, -3, 42]
    assert heard == [3, 3, 3]


def test_a_second_listener_shares_the_node():
    tensor = tf.constant(1)
    heard = []
    first = subscribe(tensor, _listener(heard))
    assert subscribe(tensor, _listener(heard)) is first
    assert subscribe(first, _listener(heard)) is first
    with tf.Session() as session:
        session.run(first)
    assert heard == [1, 1, 1]


def test_nested_tensors_keep_their_structure():
    tensors = {"a": tf.constant(1), "b": (tf.constant(2), [tf.constant(3)])}
    found = subscribe(tensors, [])
    assert isinstance(found["b"], tuple)
    assert is_subscribed_identity(found["b"][1][0])


def test_what_is_in_a_branch_is_heard_if_the_branch_runs():
    condition = tf.placeholder(tf.bool)
    inside = []

    def branch():
        inside.append(tf.constant(1) + 1)
        return inside[0]

    result = tf.cond(condition, branch, lambda: tf.constant(0))
    heard = []
    subscribe(inside[0], _listener(heard))
    with tf.Session() as session:
        session.run(result, {condition: False})
        session.run(result, {condition: True})
    assert heard == [2]


def test_other_objects_are_refused():
    with pytest.raises(TypeError, match="has invalid type"):
        subscribe("name", [])

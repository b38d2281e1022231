"""Stacks: what is pushed comes back, the last first."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops

BAD = tf.errors.InvalidArgumentError


@pytest.fixture
def session(new_graph):
    with tf.Session(graph=new_graph) as session:
        yield session


def filled(values, size=-1, dtype=tf.float32):
    """A stack, and the operation after which the values are on it."""
    stack = ops.stack_v2(max_size=size, elem_type=dtype)
    before = []
    for value in values:
        with tf.control_dependencies(before):
            before = [ops.stack_push_v2(stack, value).op]
    return stack, before


def test_the_last_comes_first(session):
    stack, done = filled([tf.constant([1.0, 2.0]), tf.constant(3.0), tf.zeros([0])])
    found = []
    for _ in range(3):
        with tf.control_dependencies(done):
            found.append(ops.stack_pop_v2(stack, elem_type=tf.float32))
        done = [found[-1].op]
    for _ in range(2):  # every run has a stack of its own
        assert [value.tolist() for value in session.run(found)] == [[], 3, [1, 2]]


def test_what_is_pushed_is_handed_on(session):
    stack, _ = filled([])
    assert session.run(ops.stack_push_v2(stack, tf.constant([1.0, 2.0]))).tolist() == [1, 2]


@pytest.mark.parametrize("dtype", [tf.string, tf.bool, tf.int64, tf.float16])
def test_values_of_every_type(session, dtype):
    value = {tf.string: [b"a", b"bc"], tf.bool: [True, False]}.get(dtype, [1, 2])
    stack, done = filled([tf.constant(value, dtype)], dtype=dtype)
    with tf.control_dependencies(done):
        popped = ops.stack_pop_v2(stack, elem_type=dtype)
    assert session.run(popped).tolist() == value


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda s: ops.stack_pop_v2(s, elem_type=tf.float32), "Stack is empty when calling Pop()"),
        (lambda s: ops.stack_pop_v2(filled([1.0])[0], elem_type=tf.int32), "is empty|Must have type int32 but got"),
        (lambda s: ops.stack_push_v2(s, tf.constant(1)), "Must have type float but got int32"),
        (lambda s: ops.stack_push_v2(ops.stack_v2(max_size=0, elem_type=tf.float32), 1.0), "overflowed its max_size"),
        (
            lambda s: ops.stack_v2(max_size=tf.placeholder_with_default([1], None), elem_type=tf.int32),
            "must be a scalar",
        ),
        (lambda s: ops.stack_push_v2(tf.TensorArray(tf.float32, 1).handle, 1.0), "not one of a stack"),
        (lambda s: ops.tensor_array_size_v3(s, 0.0), "not one of a TensorArray"),
    ],
)
def test_bad_uses_fail_when_they_run(session, build, message):
    result = build(filled([])[0])
    with pytest.raises(BAD, match=message):
        session.run(result.op)


def test_closed_stacks_are_of_no_use(session):
    stack, done = filled([tf.constant(np.ones(3000, np.float32))])
    with tf.control_dependencies(done):
        close = ops.stack_close_v2(stack)
    session.run(close)
    with tf.control_dependencies([close]):
        popped = ops.stack_pop_v2(stack, elem_type=tf.float32)
    with pytest.raises(BAD, match="has already been closed"):
        session.run(popped)

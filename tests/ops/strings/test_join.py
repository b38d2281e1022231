"""StringJoin: strings put together element by element."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops


def run(fetches, feeds=None):
    with tf.Session() as session:
        return session.run(fetches, feeds)


@pytest.mark.parametrize("separator", ["", ", "])
def test_scalars_go_with_every_element(separator):
    rows = [["x", ""], ["\0z", "w" * 300]]
    a, b = tf.constant("a"), tf.constant(rows)
    joined = ops.string_join([a, b, a], separator=separator)
    assert joined.shape.as_list() == [2, 2]
    expected = [
        [separator.join(["a", item, "a"]).encode() for item in row] for row in [["x", ""], ["\0z", "w" * 300]]
    ]
    assert run(joined).tolist() == expected
    assert run(ops.string_join([a, a], separator=separator)) == f"a{separator}a".encode()
    empty = ops.string_join([a, tf.constant(np.zeros((0, 2), object), tf.string)])
    assert run(empty).shape == (0, 2)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match="must be equal"):
        ops.string_join([tf.constant(["a"]), tf.constant(["a", "b"])])
    x = tf.placeholder(tf.string, None)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Input shapes do not match: \[1\] vs. \[2\]"):
        run(ops.string_join([tf.constant(["a"]), x]), {x: ["b", "c"]})

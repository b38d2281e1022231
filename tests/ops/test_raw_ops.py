"""tf.raw_ops: what its functions take and how they say what they do not."""

import inspect

import pytest

import stillflow as tf
from stillflow import ops


def test_arguments_go_by_name():
    with tf.Session() as session:
        assert session.run(tf.raw_ops.Add(x=1, y=2)) == 3
    with pytest.raises(TypeError, match=r"Add only takes keyword args \(possible keys: \['x', 'y', 'name'\]\)"):
        tf.raw_ops.Add(1, 2)


def test_every_op_is_a_function():
    """`Any` is one, too."""
    for name in ops.all_op_types():
        assert inspect.isfunction(getattr(tf.raw_ops, name)), name
    assert list(inspect.signature(tf.raw_ops.Any).parameters) == ["input", "axis", "keep_dims", "name"]

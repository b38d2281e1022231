"""What nobody reads is not run, but for operations that are there to fail."""

import numpy as np
import pytest

import stillflow as tf


def after(check, value):
    """A tensor that nobody computes from `check`, and that waits for it all the same."""
    with tf.control_dependencies([check]):
        return tf.identity(value)


def test_what_is_only_waited_for_is_not_run():
    x = tf.placeholder(tf.float32, [None])
    waiting = after(tf.reduce_sum(x * 2.0), tf.constant(1.0))
    with tf.Session() as session:
        assert session.run(waiting, {x: np.ones(3)}) == 1
        (request,) = session._requests.values()
        assert "reduce" not in request.plans[0].text


@pytest.mark.parametrize(
    ("check", "bad"),
    [
        (lambda x: tf.check_numerics(x, "bad"), [np.nan]),
        (lambda x: tf.ensure_shape(x, [2]), [1.0]),
    ],
    ids=["check_numerics", "ensure_shape"],
)
def test_checks_that_are_only_waited_for_are_run(check, bad):
    x = tf.placeholder(tf.float32, None)
    waiting = after(check(x), tf.constant(1.0))
    with tf.Session() as session:
        assert session.run(waiting, {x: [1.0, 2.0]}) == 1
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(waiting, {x: bad})

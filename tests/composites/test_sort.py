"""sort, argsort, swish and polyval: numpy's values, gradients, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import check_gradient, evaluate, new_session, of_unknown_shape


@pytest.mark.parametrize(
    ("axis", "is_known"),
    # Of an unknown rank the last axis has to be called -1, as in TensorFlow.
    [(axis, is_known) for axis in range(-3, 3) for is_known in (True, False) if is_known or axis < 2],
)
def test_elements_come_in_order(axis, is_known, rng):
    x = rng.integers(0, 5, (4, 5, 6)).astype(np.float32)

    def build(x, function, direction):
        return function(x if is_known else of_unknown_shape(x), axis, direction)

    np.testing.assert_array_equal(evaluate(lambda x: build(x, tf.sort, "ASCENDING"), x), np.sort(x, axis))
    np.testing.assert_array_equal(evaluate(lambda x: build(x, tf.sort, "DESCENDING"), x), -np.sort(-x, axis))
    places = evaluate(lambda x: build(x, tf.argsort, "ASCENDING"), x)
    np.testing.assert_array_equal(places, np.argsort(x, axis, kind="stable"))
    places = evaluate(lambda x: build(x, tf.argsort, "DESCENDING"), x)
    np.testing.assert_array_equal(places, np.argsort(-x, axis, kind="stable"))
    check_gradient(lambda x: tf.sort(x, axis) ** 2, rng.permutation(12.0 * np.arange(8)).reshape(2, 2, 2) / 12)


def test_bad_orders_are_refused():
    with new_session():
        with pytest.raises(ValueError, match="UP should be one of ASCENDING, DESCENDING"):
            tf.sort([1, 2], direction="UP")
        with pytest.raises(ValueError, match="axis must be a constant scalar"):
            tf.argsort([1, 2], axis=tf.placeholder(tf.int32, []))


def test_swish_and_its_gradient(rng):
    x = rng.normal(size=(3, 4))
    np.testing.assert_allclose(evaluate(tf.nn.swish, x), x / (1 + np.exp(-x)), rtol=1e-12)
    check_gradient(tf.nn.swish, x)
    check_gradient(lambda x: tf.math.polyval([x, x + 1, x * x], x), x)


def test_variables_that_have_no_value_are_named():
    with new_session() as session:
        v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w", use_resource=True)
        report, check = tf.report_uninitialized_variables(), tf.assert_variables_initialized()
        assert session.run(report).tolist() == [b"v", b"w"]
        with pytest.raises(tf.errors.FailedPreconditionError):
            session.run(check)
        session.run(v.initializer)
        assert session.run(report).tolist() == [b"w"]
        session.run(w.initializer)
        assert session.run(report).tolist() == []
        assert session.run(check).tolist() == [0, 0]


def test_empty_strings_of_any_shape():
    with new_session() as session:
        x = tf.placeholder(tf.string)
        assert session.run(tf.zeros_like(x), {x: ["a", "b"]}).tolist() == [b"", b""]

"""Comparisons, logic, choices: values, types, gradients, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built


@pytest.mark.parametrize(("case", "expected"), cases("comparison"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    value = evaluate(case)
    if isinstance(expected, str) and "operation Select" in expected:
        # A kernel does not know the name of its node: that stands at the end of the message.
        assert value.split(" of type ")[1] == expected.split(" of type ")[1]
    else:
        assert_same(value, expected)


@pytest.mark.parametrize("name", ["equal", "not_equal", "less", "greater_equal"])
def test_comparisons_with_nan(name):
    x = np.array([np.nan, 1, np.nan], np.float32)
    y = np.array([1, np.nan, np.nan], np.float32)
    assert evaluate_built(getattr(ops, name), x, y).tolist() == [name == "not_equal"] * 3


def test_strings_are_compared():
    x = np.array([["a"], ["b"], [""]], object)
    y = np.array(["a", "ab"], object)
    assert evaluate_built(ops.equal, x, y).tolist() == [[True, False], [False, False], [False, False]]
    assert evaluate_built(ops.not_equal, x, y).tolist() == [[False, True], [True, True], [True, True]]


def test_equal_may_be_told_to_bear_other_shapes():
    x, y = np.zeros(2), np.zeros(3)
    assert evaluate_built(lambda x, y: ops.equal_op(x, y, incompatible_shape_error=False), x, y) == np.False_
    assert evaluate_built(lambda x, y: ops.not_equal_op(x, y, incompatible_shape_error=False), x, y) == np.True_
    assert (
        evaluate_built(lambda x, y: ops.equal_op(x, y, incompatible_shape_error=False), x, x).tolist() == [True] * 2
    )


def test_approximate_equal_is_within_the_tolerance():
    x = np.array([1, 1, 1, np.nan, np.inf], np.float32)
    y = np.array([1.25, 1.5, 2, np.nan, np.inf], np.float32)
    result = evaluate_built(lambda x, y: ops.approximate_equal(x, y, tolerance=0.5), x, y)
    assert result.tolist() == [True, False, False, False, False]


@pytest.mark.parametrize("build", [ops.where, ops.where_v2])
@pytest.mark.parametrize("shape", [(), (3,), (3, 4)])
def test_gradient_of_a_choice(build, shape, rng):
    condition = rng.integers(0, 2, shape).astype(bool)
    if shape == (3,) and build is ops.where_v2:
        condition = condition[:, None]
    x, y = rng.standard_normal((2, 3, 4))
    check_gradient(lambda x, y: build(tf.constant(condition), x, y), x, y)


def test_gradient_of_a_broadcast_choice(rng):
    condition = np.array([[True], [False], [True]])
    check_gradient(
        lambda x, y: ops.where_v2(tf.constant(condition), x, y), rng.standard_normal(4), rng.standard_normal((3, 1))
    )


def test_a_choice_hides_no_nan_of_the_chain_rule():
    """where(x > 0, log(x), 0): the gradient at 0 is NaN, as programs know."""
    x = tf.constant([0.0, 1.0])
    grad = tf.gradients(tf.where(x > 0, tf.log(x), tf.zeros_like(x)), x)[0]
    with tf.Session() as session:
        value = session.run(grad)
    assert np.isnan(value[0]) and value[1] == 1


@pytest.mark.parametrize("name", ["less", "equal", "where"])
def test_same_bits_everywhere(name, rng):
    x, y = rng.standard_normal((2, 300, 111)).astype(np.float32)
    if name == "where":
        assert_same_bits(ops.where, x[:, 0] > 0, x, y)
        assert_same_bits(ops.where_v2, x > 0, x, y[:1])
    else:
        assert_same_bits(getattr(ops, name), x, y)


def test_where_takes_both_branches_or_none():
    with pytest.raises(ValueError, match="x and y must both be non-None or both be None"):
        tf.where([True], x=[1])


def test_strings_can_be_chosen():
    x, y = np.array(["a", "b"], object), np.array(["c", "d"], object)
    assert evaluate_built(ops.where, np.array([True, False]), x, y).tolist() == [b"a", b"d"]
    assert evaluate_built(ops.where_v2, np.array(False), x, y).tolist() == [b"c", b"d"]


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (lambda n: tf.where_v2(n > 2, n + 1, 0), 4),
        (lambda n: tf.where(n < 2, n, tf.constant(5)), 5),
        (lambda n: tf.cast(tf.logical_and(n >= 3, tf.logical_not(n <= 2)), tf.int32) + 1, 2),
        (lambda n: tf.stop_gradient(n), 3),
    ],
)
def test_sizes_that_comparisons_choose_are_known(size, expected):
    with tf.Graph().as_default():
        assert tf.zeros(tf.stack([size(tf.constant(3)), 2])).shape.as_list() == [expected, 2]
        assert tf.zeros(tf.stack([size(tf.placeholder(tf.int32, [])), 2])).shape.as_list() == [None, 2]

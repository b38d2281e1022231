"""add_n and accumulate_n: values, order of the additions, gradients, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built


@pytest.mark.parametrize(("case", "expected"), cases("add_n"))
def test_values_and_errors_are_those_of_tensorflow(case, expected, request):
    value = evaluate(case)
    name = request.node.callspec.id
    if isinstance(expected, str) and "of type AddN" in expected:
        # A kernel does not know the name of its node: that stands at the end of the message.
        assert value.split(" of type ")[1] == expected.split(" of type ")[1]
    elif name == "no_list":
        assert value.startswith("OperatorNotAllowedInGraphError")
    elif name.startswith(("float", "bfloat")):  # the order of additions is another for more than two
        assert_same(value, expected, rtol=1e-2 if "16" in name else 1e-6)
    else:
        assert_same(value, expected)


@pytest.mark.parametrize("count", [2, 3, 8, 9, 63, 64, 65, 200])
def test_terms_are_added_in_their_order(count, rng):
    arrays = list((rng.standard_normal((count, 40)) * 10.0 ** rng.integers(-6, 6, (count, 1))).astype(np.float32))
    expected = arrays[0]
    for array in arrays[1:]:
        expected = expected + array
    for shape in ((40,), (0,), (5, 8)):
        terms = [array[: int(np.prod(shape))].reshape(shape) for array in arrays]
        result = evaluate_built(lambda *tensors: ops.add_n(list(tensors)), *terms)
        np.testing.assert_array_equal(result, expected[: result.size].reshape(shape))


def test_shapes_that_are_not_known_take_the_same_sums(rng):
    arrays = rng.standard_normal((5, 3, 7)).astype(np.float32)
    inputs = [tf.placeholder(tf.float32) for _ in arrays]
    with tf.Session() as session:
        result = session.run(tf.add_n(inputs), dict(zip(inputs, arrays, strict=True)))
    known = evaluate_built(lambda *tensors: ops.add_n(list(tensors)), *arrays)
    assert result.tobytes() == known.tobytes()


def test_one_tensor_is_its_own_sum():
    x = tf.constant([1.0, 2.0])
    assert tf.add_n([x]) is x
    assert tf.add_n([x], name="named").op.type == "Identity"


def test_a_tensor_may_occur_twice_and_is_not_overwritten(rng):
    x = rng.standard_normal(1000).astype(np.float32)
    total, same = evaluate_built(lambda t: [ops.add_n([t, t, t]), ops.identity(t)], x)
    np.testing.assert_array_equal(total, x + x + x)
    np.testing.assert_array_equal(same, x)


def test_gradient_matches_differences(rng):
    x, y = rng.standard_normal((2, 3))
    check_gradient(lambda x, y: ops.add_n([x * x, y, x]), x, y)
    check_gradient(lambda x, y: ops.accumulate_n([x * x, y, x]), x, y)


def test_same_bits_everywhere(rng):
    assert_same_bits(lambda *each: ops.add_n(list(each)), *rng.standard_normal((5, 30011)).astype(np.float32))


def test_accumulate_n_checks_what_it_is_told():
    x = tf.placeholder(tf.float32)
    assert tf.accumulate_n([x, x], shape=[2, 3]).shape == (2, 3)
    with pytest.raises(TypeError, match="tensor_dtype is"):
        tf.accumulate_n([x, x], tensor_dtype=tf.int32)
    with pytest.raises(ValueError, match="are not compatible"):
        tf.accumulate_n([x, tf.constant([1.0])], shape=[2, 3])

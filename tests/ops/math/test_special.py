"""Special functions as ops: broadcasting, gradients, bad input, same bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session

BINARY = ("zeta", "polygamma", "igamma", "igammac", "igamma_grad_a")


def samples(name, rng, shape, other=None):
    """Arguments for which the function is smooth."""
    other = shape if other is None else other
    if name == "polygamma":
        return rng.integers(0, 4, shape).astype(float), rng.uniform(0.5, 4, other)
    return rng.uniform(1.5, 4, shape), rng.uniform(0.5, 4, other)


@pytest.mark.parametrize(("shape", "other"), [((), ()), ((3,), ()), ((), (2, 3)), ((4, 1), (1, 3)), ((0, 3), (3,))])
@pytest.mark.parametrize("name", BINARY)
def test_arguments_are_broadcast(name, shape, other, rng):
    x, y = samples(name, rng, shape, other)
    whole = [np.ascontiguousarray(array) for array in np.broadcast_arrays(x, y)]
    build = getattr(ops, name)
    np.testing.assert_array_equal(evaluate(build, x, y), evaluate(build, *whole))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_same_bits_everywhere(name, dtype, rng):
    assert_same_bits(getattr(ops, name), *(array.astype(dtype) for array in samples(name, rng, 40000)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_same_bits_of_betainc(dtype, rng):
    count = 5000
    a, b, x = 10 ** rng.uniform(-3, 5, count), 10 ** rng.uniform(-3, 5, count), rng.uniform(0, 1, count)
    x[::2] = (a / (a + b))[::2]
    assert_same_bits(ops.betainc, *(array.astype(dtype) for array in (a, b, x)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", ["bessel_i0e", "bessel_i1e"])
def test_same_bits_of_bessel_functions(name, dtype, rng):
    assert_same_bits(getattr(ops, name), rng.uniform(-20, 20, 40000).astype(dtype))


@pytest.mark.parametrize("name", ["bessel_i0e", "bessel_i1e"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_computed_as_floats_and_rounded_once(name, dtype, rng):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    x = rng.uniform(-20, 20, 999).astype(numpy_type)
    expected = evaluate(getattr(ops, name), x.astype(np.float32)).astype(numpy_type)
    assert evaluate(getattr(ops, name), x).tobytes() == expected.tobytes()


@pytest.mark.parametrize(("shape", "other"), [((3, 4), (3, 4)), ((3, 1), (1, 4)), ((), (2,)), ((2, 3), ())])
@pytest.mark.parametrize("name", ["zeta", "polygamma", "igamma", "igammac"])
def test_gradient_matches_differences(name, shape, other, rng):
    wrt = [1] if name in ("zeta", "polygamma") else None
    check_gradient(getattr(ops, name), *samples(name, rng, shape, other), wrt=wrt)


@pytest.mark.parametrize("name", ["digamma", "lgamma"])
def test_derivatives_of_any_order(name, rng):
    def second(x):
        return tf.gradients(tf.gradients(getattr(ops, name)(x), x)[0], x)[0]

    check_gradient(second, rng.uniform(1, 4, 5))


def test_no_gradient_where_tensorflow_has_none():
    a, b, x = (tf.constant([value]) for value in (2.0, 3.0, 0.5))
    assert tf.gradients(tf.zeta(a, b), a) == [None]
    assert tf.gradients(tf.polygamma(a, b), a) == [None]
    assert tf.gradients(tf.betainc(a, b, x), [a, b]) == [None, None]
    with pytest.raises(LookupError):
        tf.gradients(ops.igamma_grad_a(a, b), a)


@pytest.mark.parametrize("name", ["bessel_i0", "bessel_i1", "bessel_i0e", "bessel_i1e"])
def test_gradient_of_bessel_functions(name, rng):
    check_gradient(getattr(tf.math, name), np.concatenate([rng.uniform(-4, 4, 6), [9.0, -12.0]]), tolerance=5e-3)


def test_gradient_of_i1e_at_zero_is_a_half():
    x = tf.constant([0.0])
    with tf.Session() as session:
        assert session.run(tf.gradients(tf.math.bessel_i1e(x), x)[0]).tolist() == [0.5]


# ---- betainc --------------------------------------------------------------------------------------------------


def test_gradient_of_betainc(rng):
    a, b, x = rng.uniform(0.5, 4, (2, 3)), rng.uniform(0.5, 4, (2, 3)), rng.uniform(0.1, 0.9, (2, 3))
    check_gradient(tf.betainc, a, b, x, wrt=[2])
    check_gradient(lambda x: tf.betainc(tf.constant(2.0, tf.float64), tf.constant(3.0, tf.float64), x), x)


@pytest.mark.parametrize("scalars", [(), (0,), (1, 2), (0, 2), (0, 1, 2)])
def test_scalars_of_betainc_stand_for_all(scalars, rng):
    whole = [rng.uniform(0.1, 0.9, (2, 3)) for _ in range(3)]
    arguments = [array[1, 1] if i in scalars else array for i, array in enumerate(whole)]
    expected = evaluate(ops.betainc, *(np.ascontiguousarray(np.broadcast_to(array, (2, 3))) for array in arguments))
    result = evaluate(ops.betainc, *(np.asarray(array) for array in arguments))
    np.testing.assert_array_equal(result, expected[0, 0] if len(scalars) == 3 else expected)


def test_betainc_of_nothing():
    nothing = np.zeros((0, 2))
    assert evaluate(ops.betainc, nothing, nothing, nothing).shape == (0, 2)


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (([2, 3], [3], [2, 3]), "Shapes must be equal rank, but are 2 and 1"),
        (([2, 3], [], [2, 4]), "Dimension 1 in both shapes must be equal, but are 3 and 4"),
    ],
)
def test_known_shapes_of_betainc_must_agree(shapes, message):
    with pytest.raises(ValueError, match=message):
        tf.betainc(*(tf.ones(shape) for shape in shapes))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (([2, 3], [3], [2, 3]), r"Shapes of a and b are inconsistent: \[2,3\] vs. \[3\]"),
        (([2, 3], [2, 3], [1, 3]), r"Shapes of a and x are inconsistent: \[2,3\] vs. \[1,3\]"),
        (([], [3], [2]), r"Shapes of b and x are inconsistent: \[3\] vs. \[2\]"),
    ],
)
def test_shapes_of_betainc_must_agree_when_running(shapes, message):
    with new_session() as session:
        inputs = [tf.placeholder(tf.float32) for _ in shapes]
        output = tf.betainc(*inputs)
        assert output.shape.dims is None
        with pytest.raises(errors.InvalidArgumentError, match=message):
            session.run(output, {tensor: np.ones(shape) for tensor, shape in zip(inputs, shapes, strict=True)})


def test_shape_of_betainc():
    scalar, vector, unknown = tf.ones([]), tf.ones([3]), tf.placeholder(tf.float32)
    assert tf.betainc(scalar, scalar, scalar).shape.as_list() == []
    assert tf.betainc(scalar, vector, scalar).shape.as_list() == [3]
    assert tf.betainc(unknown, vector, scalar).shape.as_list() == [3]
    assert tf.betainc(unknown, scalar, scalar).shape.dims is None


# ---- lbeta, types ---------------------------------------------------------------------------------------------


def test_lbeta_sums_over_the_last_dimension(rng):
    import math

    x = rng.uniform(0.5, 4, (3, 4))
    expected = [sum(map(math.lgamma, row)) - math.lgamma(sum(row)) for row in x.tolist()]
    np.testing.assert_allclose(evaluate(tf.lbeta, x), expected, rtol=1e-13)
    check_gradient(tf.lbeta, x)
    assert evaluate(tf.lbeta, np.zeros((2, 0), np.float32)).tolist() == [-np.inf, -np.inf]


@pytest.mark.parametrize("build", [tf.zeta, tf.polygamma, tf.igamma, tf.igammac])
def test_types_and_shapes_that_do_not_fit_are_refused(build):
    with pytest.raises(TypeError, match="float16 not in list of allowed values: float32, float64"):
        build(tf.ones([2], tf.float16), 1)
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        build(tf.ones([2]), tf.ones([3]))


def test_the_ends_of_incomplete_beta_functions_need_no_parameters():
    """As in TensorFlow: at 0 and 1 the value does not depend on what is unknown."""
    nan = np.nan
    a, b, x = np.array([[nan, 1, 0], [2, nan, 1], [nan, 2, 0.5], [nan, 0, 0], [-1, nan, 1]]).T
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.betainc(a, b, x)), [0, 1, nan, nan, nan])

"""TridiagonalSolve, TridiagonalMatMul and tf.linalg.expm: numpy's values, the same bits, gradients, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session, of_unknown_shape

solve, multiply = tf.linalg.tridiagonal_solve, tf.linalg.tridiagonal_matmul


def dense(diagonals):
    above, main, below = diagonals
    return np.diag(main) + np.diag(above[:-1], 1) + np.diag(below[1:], -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 2, 3, 10, 100])
@pytest.mark.parametrize("pivoting", [True, False])
def test_solutions_and_products_are_those_of_numpy(size, dtype, pivoting, rng):
    diagonals = rng.uniform(-1, 1, size=(5, 3, size)).astype(dtype)
    if not pivoting:
        diagonals[:, 1] += 3
    x = rng.normal(size=(5, size, 4)).astype(dtype)
    rhs = np.stack([dense(d) @ y for d, y in zip(diagonals.astype(np.float64), x, strict=True)]).astype(dtype)
    tolerance = 1e-4 if dtype == np.float32 else 1e-10
    np.testing.assert_allclose(evaluate(multiply, diagonals, x), rhs, rtol=tolerance, atol=tolerance)
    found = evaluate(
        lambda d, y: solve(d, y, partial_pivoting=pivoting), diagonals.astype(np.float64), rhs.astype(np.float64)
    )
    products = np.stack([dense(d) @ y for d, y in zip(diagonals.astype(np.float64), found, strict=True)])
    np.testing.assert_allclose(products, rhs, rtol=1e-6, atol=1e-6)


def test_same_bits_everywhere(rng):
    diagonals = rng.normal(size=(7, 3, 50)).astype(np.float32)
    rhs = rng.normal(size=(7, 50, 3)).astype(np.float32)
    assert_same_bits(solve, diagonals, rhs)
    assert_same_bits(multiply, diagonals, rhs)


def test_gradients(rng):
    diagonals = rng.uniform(size=(2, 3, 4)) + [[0], [3], [0]]
    rhs = rng.normal(size=(2, 4, 2))
    check_gradient(solve, diagonals, rhs)
    check_gradient(multiply, diagonals, rhs)
    check_gradient(lambda x: tf.linalg.expm(x), rng.normal(size=(2, 3, 3)))


def test_exponentials_are_those_of_series(rng):
    for scale in (0.001, 0.1, 1.0, 4.0):
        x = rng.normal(size=(3, 4, 4)) * scale
        values, vectors = np.linalg.eig(x)
        expected = (vectors * np.exp(values)[:, None, :] @ np.linalg.inv(vectors)).real
        np.testing.assert_allclose(evaluate(tf.linalg.expm, x), expected, rtol=1e-8, atol=1e-8)
        found = evaluate(tf.linalg.expm, x.astype(np.float32))
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("diagonals", "pivoting", "message"),
    [
        ([[0.0, 0, 0], [0, 5, 6], [0, 0, 2]], True, "The matrix is not invertible"),
        ([[1.0, 0, 0], [1, 1, 6], [0, 1, 2]], False, "Try setting partial_pivoting = True"),
        ([[0.0], [0], [0]], True, "a scalar with value zero"),
    ],
)
def test_singular_matrices_are_named(diagonals, pivoting, message):
    with new_session() as session:
        rhs = np.ones([len(diagonals[0]), 1], np.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(solve(tf.constant(diagonals), rhs, partial_pivoting=pivoting))


@pytest.mark.parametrize(
    ("diagonals", "rhs"),
    [((3,), (3, 1)), ((4, 3), (3, 1)), ((3, 3), (2, 1)), ((2, 3, 3), (3, 3, 1)), ((2, 3, 3), (3, 1)), ((3, 3), (3,))],
)
def test_shapes_that_do_not_fit_are_refused(diagonals, rhs):
    with new_session() as session:
        d, r = tf.ones(diagonals), tf.ones(rhs)
        with pytest.raises(ValueError):
            ops.tridiagonal_solve(d, r)
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(ops.tridiagonal_solve(of_unknown_shape(d), of_unknown_shape(r)))
        for shapes in (((1, 2), (1, 3), (1, 3), (3, 2)), ((3,), (3,), (3,), (3, 2)), ((1, 3), (1, 3), (1, 3), (3,)),
                       ((2, 1, 3), (2, 1, 3), (2, 1, 3), (3, 2))):  # fmt: skip
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(ops.tridiagonal_mat_mul(*(of_unknown_shape(tf.ones(shape)) for shape in shapes)))


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: solve(tf.ones([3, 3]), tf.ones([3]), "rows"), "Unrecognized"),
        (lambda: solve([tf.ones([3])] * 2, tf.ones([3]), "sequence"), "length 3"),
        (lambda: solve([tf.ones([1]), tf.ones([3]), tf.ones([3])], tf.ones([3]), "sequence"), "superdiagonal"),
        (lambda: solve(tf.ones([2, 3]), tf.ones([3]), "matrix"), "same"),
        (lambda: solve(tf.ones([4, 3]), tf.ones([3])), "3 diagonals"),
        (lambda: solve(tf.ones([3, 3]), tf.ones([2])), "to be equal"),
        (lambda: solve(tf.ones([3, 3]), tf.ones([1, 1, 3])), "rank of rhs"),
        (lambda: multiply(tf.ones([3, 3]), tf.ones([3, 1]), "rows"), "Unrecognized"),
        (lambda: tf.linalg.expm(tf.ones([2, 2], tf.int32)), "does not support"),
    ],
)
def test_bad_arguments_are_refused(build, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build()

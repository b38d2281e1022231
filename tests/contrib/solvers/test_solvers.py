"""tf.contrib.solvers: equations, least squares and singular values against numpy, with sizes known late too."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.contrib.solvers import matrices

solvers = tf.contrib.solvers


def _given(is_static, *arrays):
    """(tensors, feeds); their shapes are not known if they are fed."""
    if is_static:
        return [tf.constant(array) for array in arrays], {}
    placeholders = [tf.placeholder(array.dtype) for array in arrays]
    return placeholders, dict(zip(placeholders, arrays, strict=True))


def _matrix(rng, shape, dtype):
    return rng.uniform(-1, 1, shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("begins", [False, True])
@pytest.mark.parametrize("has_preconditioner", [False, True])
def test_equations_are_solved(dtype, is_static, begins, has_preconditioner):
    rng = np.random.default_rng(1)
    a = _matrix(rng, (6, 6), dtype)
    a = a @ a.T + np.eye(6, dtype=dtype)
    rhs = _matrix(rng, 6, dtype)
    (tensor, right, begin), feeds = _given(is_static, a, rhs, _matrix(rng, 6, dtype))
    preconditioner = matrices.identity_operator(tensor) if has_preconditioner else None
    state = solvers.conjugate_gradient(
        matrices.create_operator(tensor), right, preconditioner, x=begin if begins else None, tol=1e-4, max_iter=30
    )
    with tf.Session() as session:
        found = session.run(state, feeds)
    assert found.i <= 10
    np.testing.assert_allclose(a @ found.x, rhs, atol=2e-3)
    np.testing.assert_allclose(rhs - a @ found.x, found.r, atol=1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("shape", [(4, 4), (7, 4)])
def test_least_squares(dtype, is_static, shape):
    rng = np.random.default_rng(1)
    a, rhs = _matrix(rng, shape, dtype), _matrix(rng, shape[0], dtype)
    (tensor, right), feeds = _given(is_static, a, rhs)
    state = solvers.cgls(matrices.create_operator(tensor), right, tol=1e-8, max_iter=30)
    with tf.Session() as session:
        found = session.run(state, feeds)
    np.testing.assert_allclose(found.x, np.linalg.lstsq(a, rhs, rcond=None)[0], rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("is_static", [True, False])
@pytest.mark.parametrize("orthogonalize", [True, False])
@pytest.mark.parametrize("steps", [1, 4])
def test_a_matrix_becomes_bidiagonal(dtype, is_static, orthogonalize, steps):
    rng = np.random.default_rng(1)
    a = _matrix(rng, (7, 5), dtype)
    (tensor, begin), feeds = _given(is_static, a, _matrix(rng, 7, dtype))
    operator = matrices.create_operator(tensor)
    state = solvers.lanczos_bidiag(operator, steps, orthogonalize, starting_vector=begin)
    products = (
        operator.apply(state.v), solvers.bidiag_matmul(state.u, state.alpha, state.beta),
        operator.apply_adjoint(state.u[:, :-1]), solvers.bidiag_matmul(state.v, state.alpha, state.beta,
        adjoint_b=True),
    )  # fmt: skip
    with tf.Session() as session:
        found, (av, ub, atu, vbt) = session.run([state, products], feeds)
    tolerance = 1e-4 if dtype is np.float32 else 1e-9
    np.testing.assert_allclose(av, ub, atol=tolerance)
    np.testing.assert_allclose(atu, vbt, atol=tolerance)
    if orthogonalize:
        np.testing.assert_allclose(found.u.T @ found.u, np.eye(steps + 1), atol=tolerance)
        np.testing.assert_allclose(found.v.T @ found.v, np.eye(steps), atol=tolerance)


def test_norms():
    x = np.array([[1.0 + 1j], [2.0]], np.complex64)
    with tf.Session() as session:
        assert session.run(matrices.dot(tf.constant(x), tf.constant(x))) == 6
        unit, norm = session.run(matrices.l2normalize(tf.constant([[3.0], [4.0]])))
    assert norm == 5.0
    np.testing.assert_allclose(unit, [[0.6], [0.8]])

"""Factors, inverses, determinants, eigenvalues and singular values: numpy's values, gradients, bits, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session, of_unknown_shape

SIZES = [(1, 1), (3, 3), (2, 3, 4, 4), (64, 64), (65, 65), (200, 200), (0, 0), (0, 2, 2), (2, 0, 0)]
TOLERANCE = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-11}


def well_conditioned(shape, rng):
    return rng.normal(size=shape) + 2 * np.sqrt(shape[-1] + 1) * np.eye(shape[-1])


def positive(shape, rng):
    a = rng.normal(size=shape)
    return a @ np.swapaxes(a, -1, -2) + np.eye(shape[-1])


def assert_near(found, expected, dtype, factor=1.0):
    assert found.dtype == dtype
    assert found.shape == np.shape(expected)
    if np.size(expected):
        np.testing.assert_allclose(found, expected, atol=factor * TOLERANCE[dtype] * max(np.abs(expected).max(), 1))


# ---- Values -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_are_numpys(shape, dtype, rng):
    a = well_conditioned(shape, rng).astype(dtype)
    wide = a.astype("float64")
    inverse, transposed, determinant, (sign, log) = evaluate(
        lambda a: [
            tf.matrix_inverse(a), tf.matrix_inverse(a, adjoint=True),
            tf.matrix_determinant(a / np.sqrt(shape[-1] + 1)), list(tf.linalg.slogdet(a)),
        ], a)  # fmt: skip
    expected = np.linalg.inv(wide)
    assert_near(inverse, expected, dtype)
    assert_near(transposed, np.swapaxes(expected, -1, -2), dtype)
    expected = np.linalg.det((a / a.dtype.type(np.sqrt(shape[-1] + 1))).astype("float64"))
    with np.errstate(over="ignore"):
        expected = expected.astype(dtype)
    np.testing.assert_allclose(determinant, expected, rtol=1e-3 if dtype == "float32" else 1e-9)
    expected_sign, expected_log = np.linalg.slogdet(wide)
    np.testing.assert_array_equal(sign, expected_sign)
    assert_near(log, expected_log, dtype)


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_solutions_solve(shape, dtype, rng):
    a, width = well_conditioned(shape, rng).astype(dtype), 3
    b = rng.normal(size=(*shape[:-1], width)).astype(dtype)
    for adjoint in (False, True):
        x = evaluate(lambda a, b, adjoint=adjoint: tf.matrix_solve(a, b, adjoint=adjoint), a, b)
        assert x.dtype == dtype
        np.testing.assert_allclose((np.swapaxes(a, -1, -2) if adjoint else a) @ x, b, atol=TOLERANCE[dtype] * 10)
    spd = positive(shape, rng).astype(dtype)
    factor, x = evaluate(lambda a, b: [tf.cholesky(a), tf.cholesky_solve(tf.cholesky(a), b)], spd, b)
    np.testing.assert_array_equal(np.triu(factor, 1), 0)
    assert_near(factor @ np.swapaxes(factor, -1, -2), spd, dtype)
    np.testing.assert_allclose(spd @ x, b, atol=TOLERANCE[dtype] * 500)
    lu, order = evaluate(lambda a: list(tf.linalg.lu(a, tf.int64)), a)
    lower = np.tril(lu, -1) + np.eye(shape[-1])
    assert np.abs(lower).max(initial=1) <= 1
    assert_near((lower @ np.triu(lu)).astype(dtype), np.take_along_axis(a, order[..., None], -2), dtype)


@pytest.mark.parametrize("shape", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_eigenvectors_are_those_of_the_matrix(shape, dtype, rng):
    a = positive(shape, rng) / max(shape[-1], 1)
    a = (a + rng.normal(size=shape)).astype(dtype)
    symmetric = (np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)).astype("float64")
    e, v, alone = evaluate(lambda a: [*tf.self_adjoint_eig(a), tf.self_adjoint_eigvals(a)], a)
    expected = np.linalg.eigvalsh(symmetric) if symmetric.size else np.zeros(shape[:-1])
    assert_near(e, expected, dtype)
    np.testing.assert_array_equal(e, alone)
    v = v.astype("float64")
    np.testing.assert_allclose(
        np.swapaxes(v, -1, -2) @ v, np.broadcast_to(np.eye(shape[-1]), shape), atol=TOLERANCE[dtype] * 2
    )
    if a.size:
        np.testing.assert_allclose(symmetric @ v, v * e[..., None, :], atol=TOLERANCE[dtype] * 4 * np.abs(e).max())


@pytest.mark.parametrize(
    "shape", [(1, 1), (4, 4), (5, 3), (3, 5), (2, 3, 6, 2), (130, 70), (0, 3), (3, 0), (0, 2, 2), (40, 40)], ids=str
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("is_full", [False, True])
def test_singular_vectors_are_those_of_the_matrix(shape, dtype, is_full, rng):
    a = rng.normal(size=shape).astype(dtype)
    s, u, v, alone = evaluate(lambda a: [*tf.svd(a, is_full), tf.svd(a, compute_uv=False)], a)
    *batch, m, n = shape
    p = min(m, n)
    assert u.shape == (*batch, m, m if is_full else p)
    assert v.shape == (*batch, n, n if is_full else p)
    assert_near(s, np.linalg.svd(a.astype("float64"), compute_uv=False), dtype)
    np.testing.assert_allclose(s, alone, atol=TOLERANCE[dtype])
    for vectors in (u.astype("float64"), v.astype("float64")):
        identity = np.broadcast_to(np.eye(vectors.shape[-1]), (*batch, *[vectors.shape[-1]] * 2))
        np.testing.assert_allclose(np.swapaxes(vectors, -1, -2) @ vectors, identity, atol=TOLERANCE[dtype] * 2)
    u, v = u[..., :p].astype("float64"), v[..., :p].astype("float64")
    if a.size:
        product = (u * s[..., None, :]) @ np.swapaxes(v, -1, -2)
        np.testing.assert_allclose(product, a.astype("float64"), atol=TOLERANCE[dtype] * 4 * s.max())


@pytest.mark.parametrize("shape", [(7, 3), (3, 7), (4, 4), (2, 5, 3)], ids=str)
def test_least_squares_are_numpys(shape, rng):
    a, b = rng.normal(size=shape), rng.normal(size=(*shape[:-1], 2))
    expected = np.linalg.pinv(a) @ b
    for fast in (True, False):
        for build in (lambda a, b, fast=fast: tf.matrix_solve_ls(a, b, fast=fast),
                      lambda a, b, fast=fast: tf.matrix_solve_ls(of_unknown_shape(a), b, fast=fast)):  # fmt: skip
            np.testing.assert_allclose(evaluate(build, a, b), expected, atol=1e-7)
    pseudo_inverse, rank = evaluate(lambda a: [tf.linalg.pinv(a), tf.linalg.matrix_rank(a)], a)
    np.testing.assert_allclose(pseudo_inverse, np.linalg.pinv(a), atol=1e-10)
    np.testing.assert_array_equal(rank, np.linalg.matrix_rank(a))
    gramian = np.swapaxes(a, -1, -2) @ a + 0.5 * np.eye(shape[-1])
    expected = np.linalg.solve(gramian, np.swapaxes(a, -1, -2) @ b)
    np.testing.assert_allclose(evaluate(lambda a, b: tf.matrix_solve_ls(a, b, 0.5), a, b), expected, atol=1e-9)


def test_matrices_of_lower_rank(rng):
    a = rng.normal(size=(6, 2)) @ rng.normal(size=(2, 5))
    b = rng.normal(size=(6, 3))
    found = evaluate(lambda a, b: tf.matrix_solve_ls(a, b, fast=False), a, b)
    np.testing.assert_allclose(found, np.linalg.pinv(a) @ b, atol=1e-10)
    for matrix in (a, a.T, np.zeros((4, 3)), np.ones((5, 5)), np.diag([3.0, 0.0, 1e-200, 1e200])):
        s, u, v = evaluate(lambda a: list(tf.svd(a, full_matrices=True)), matrix)
        np.testing.assert_allclose(u.T @ u, np.eye(len(u)), atol=1e-13)
        np.testing.assert_allclose(v.T @ v, np.eye(len(v)), atol=1e-13)
        p = len(s)
        np.testing.assert_allclose((u[:, :p] * s) @ v[:, :p].T, matrix, atol=1e-13 * max(np.abs(matrix).max(), 1))
    assert evaluate(tf.matrix_determinant, np.ones((3, 3))) == 0
    assert evaluate(lambda a: list(tf.linalg.slogdet(a)), np.zeros((2, 2))) == [0, -np.inf]


def test_determinants_do_not_overflow_on_the_way():
    a = np.diag([1e200] * 3 + [1e-200] * 3)
    np.testing.assert_allclose(evaluate(tf.matrix_determinant, a), 1, rtol=1e-12)
    assert evaluate(tf.matrix_determinant, np.diag([1e200] * 3)) == np.inf
    assert evaluate(tf.matrix_determinant, (np.eye(60) * 10).astype("float32")) == np.inf


# ---- Gradients, bits, bad input ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "build",
    [
        lambda a: tf.cholesky(tf.matmul(a, a, transpose_b=True)), tf.matrix_inverse, tf.matrix_determinant,
        lambda a: tf.linalg.slogdet(a)[1], lambda a: tf.linalg.logdet(tf.matmul(a, a, transpose_b=True)),
        lambda a: tf.matrix_solve(a, a * a), lambda a: tf.matrix_solve(a, a * a, adjoint=True),
        lambda a: tf.self_adjoint_eigvals(tf.matmul(a, a, transpose_b=True)),
        lambda a: tf.self_adjoint_eig(tf.matmul(a, a, transpose_b=True))[1] ** 2,
        lambda a: tf.svd(a, compute_uv=False), lambda a: tf.svd(a)[1] ** 2, lambda a: tf.svd(a)[2] ** 2,
        lambda a: tf.svd(a[..., :2, :])[2] ** 2, lambda a: tf.svd(a[..., :2])[1] ** 2,
        lambda a: tf.matrix_solve_ls(a, a[..., :1] * 2.0, 0.5),
        lambda a: tf.matrix_solve_ls(a[..., :2, :], a[..., :2, :1], 0.5),
    ],
)  # fmt: skip
def test_gradients(build):
    a = np.array([[[4.0, 1, 0.3], [0.5, 2, -1], [0.2, 0.7, 1]], [[1.0, -2, 0], [2, 1.5, 1], [0.1, 0.3, 3]]])
    check_gradient(build, a, tolerance=5e-3)


def test_the_gradient_of_the_ops_least_squares(rng):
    for shape in ((4, 2), (2, 4)):
        a, b = rng.normal(size=shape), rng.normal(size=(shape[0], 1))
        check_gradient(lambda a, b: ops.matrix_solve_ls_op(a, b, np.float64(0.3)), a, b)


def test_same_bits_everywhere(rng):
    a = well_conditioned((150, 150), rng)
    many = well_conditioned((20, 9, 9), rng).astype("float32")
    for matrices in (a, many):
        assert_same_bits(
            lambda a: [
                tf.matrix_inverse(a), tf.matrix_solve(a, a * 2), tf.linalg.slogdet(a)[1], tf.matrix_determinant(a),
                *tf.linalg.lu(a), tf.cholesky(tf.matmul(a, a, transpose_b=True)), *tf.self_adjoint_eig(a),
                *tf.svd(a), tf.matrix_triangular_solve(a, a),
            ],
            matrices,
        )  # fmt: skip


def test_static_shapes():
    with new_session():
        a = tf.placeholder(tf.float32, [2, None, 3])
        assert tf.matrix_inverse(a).shape.as_list() == [2, 3, 3]
        assert tf.matrix_determinant(a).shape.as_list() == [2]
        assert [t.shape.as_list() for t in tf.self_adjoint_eig(a)] == [[2, 3], [2, 3, 3]]
        b = tf.placeholder(tf.float32, [2, 5, 3])
        assert [t.shape.as_list() for t in tf.svd(b)] == [[2, 3], [2, 5, 3], [2, 3, 3]]
        assert [t.shape.as_list() for t in tf.svd(b, full_matrices=True)] == [[2, 3], [2, 5, 5], [2, 3, 3]]
        assert tf.svd(b, compute_uv=False).shape.as_list() == [2, 3]
        assert tf.matrix_solve_ls(b, tf.ones([2, 5, 1]), fast=False).shape.as_list() == [2, 3, 1]


FUNCTIONS = {
    "cholesky": tf.cholesky, "inverse": tf.matrix_inverse, "determinant": tf.matrix_determinant, "lu": tf.linalg.lu,
    "slogdet": tf.linalg.slogdet, "eig": tf.self_adjoint_eig, "eigvals": tf.self_adjoint_eigvals,
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_matrices_that_are_not_square_are_refused(name):
    with new_session() as session:
        with pytest.raises(ValueError, match="Dimensions must be equal, but are (2 and 3|3 and 2)"):
            FUNCTIONS[name](np.ones((2, 3)))
        with pytest.raises(ValueError, match="Shape must be at least rank 2 but is rank 1"):
            FUNCTIONS[name](np.ones(3))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input matrix must be square"):
            session.run(FUNCTIONS[name](of_unknown_shape(tf.ones((2, 3)))))
        with pytest.raises(tf.errors.InvalidArgumentError, match="must have rank >= 2"):
            session.run(FUNCTIONS[name](of_unknown_shape(tf.ones(3))))


def test_what_cannot_be_computed_is_refused():
    nan = np.full((2, 2), np.nan)
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    with new_session() as session:
        for build, matrix, message in (
            (tf.cholesky, singular, "Cholesky decomposition was not successful. The input might not be valid."),
            (tf.cholesky, -np.eye(2), "Cholesky decomposition was not successful"),
            (tf.matrix_inverse, singular, "Input is not invertible."), (tf.matrix_inverse, nan, "not invertible"),
            (tf.linalg.lu, singular, "Input is not invertible."),
            (lambda a: tf.matrix_solve(a, a), singular, "Input matrix is not invertible."),
            (tf.self_adjoint_eig, nan, "Self-adjoint eigen decomposition was not successful"),
            (tf.self_adjoint_eig, nan * np.inf, "Self-adjoint eigen decomposition was not successful"),
        ):  # fmt: skip
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(build(matrix))
        assert np.isnan(session.run(tf.cholesky(nan))[0, 0])
        assert all(np.isnan(part).all() for part in session.run(tf.svd(nan)))
        assert np.isnan(session.run(tf.matrix_determinant(nan)))
        for matrix, rhs, message in (
            ((3, 3), (2, 1), "incompatible"), ((2, 3), (2, 1), "must be a square matrix"),
            ((3,), (3, 1), "rank >= 2"), ((2, 3, 3), (3, 1), "incompatible"), ((2, 3, 3), (1, 3, 1), "incompatible"),
        ):  # fmt: skip
            a, b = (of_unknown_shape(tf.ones(shape)) for shape in (matrix, rhs))
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(tf.matrix_solve(a, b))
        a = of_unknown_shape(tf.ones((3, 2)))
        with pytest.raises(tf.errors.InvalidArgumentError, match="l2_regularizer must be >= 0"):
            session.run(ops.matrix_solve_ls_op(a, tf.ones((3, 1)), -1.0))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input matrix and rhs are incompatible"):
            session.run(tf.matrix_solve_ls(a, of_unknown_shape(tf.ones((2, 1))), fast=False))
        b = tf.ones((3, 1))
        with pytest.raises(ValueError, match="Gradient not defined for fast=False"):
            tf.gradients(tf.matrix_solve_ls(tf.ones((3, 2)), b, fast=False), b)
        with pytest.raises(TypeError, match="float"):
            tf.linalg.pinv([[1, 2]])
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            tf.linalg.matrix_rank([1.0])


@pytest.mark.parametrize(
    "solve, of_matrix",
    [
        (tf.matrix_solve, [None, 3, None]), (tf.matrix_triangular_solve, [None, 3, None]),
        (lambda a, b: tf.matrix_solve_ls(a, b, fast=False), [None, None, None]),
    ],
)  # fmt: skip
def test_one_known_shape_tells_the_other(solve, of_matrix):
    unknown = tf.placeholder(tf.float32)
    matrix, rhs = tf.placeholder(tf.float32, [None, 3, None]), tf.placeholder(tf.float32, [2, None, 5])
    assert solve(unknown, unknown).shape.ndims is None
    assert solve(matrix, unknown).shape.as_list() == of_matrix
    assert solve(unknown, rhs).shape.as_list() == [2, None, 5]
    assert solve(matrix, rhs).shape.as_list() == [2, of_matrix[1], 5]

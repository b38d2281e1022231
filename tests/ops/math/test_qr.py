"""Qr and MatrixTriangularSolve: products that come out again, gradients, bits and bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.autodiff.reverse import gradients
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session, of_unknown_shape

SHAPES = [(1, 1), (4, 4), (5, 3), (3, 5), (2, 3, 4, 2), (3, 0), (0, 3), (0, 2, 2), (70, 30)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("is_full", [False, True])
def test_factors_are_numpys(shape, dtype, is_full, rng):
    a = rng.normal(size=shape).astype(dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    found = evaluate(lambda a: ops.qr_op(a, full_matrices=is_full), a)
    expected = np.linalg.qr(a.astype("float64"), "complete" if is_full else "reduced")
    for mine, numpys in zip(found, expected, strict=True):
        assert mine.shape == numpys.shape
        assert mine.dtype == dtype
    q, r = found
    np.testing.assert_allclose(q @ r, a, atol=tolerance * 10)
    np.testing.assert_allclose(
        np.swapaxes(q, -1, -2) @ q,
        np.broadcast_to(np.eye(q.shape[-1]), r.shape[:-2] + (q.shape[-1],) * 2),
        atol=tolerance,
    )
    np.testing.assert_array_equal(np.tril(r, -1), 0)
    if 0 not in shape:
        np.testing.assert_allclose(np.abs(r), np.abs(expected[1]), atol=tolerance * 20)


def test_the_signs_are_those_of_lapack(rng):
    """A diagonal element has the other sign than what it replaces, and the last of a square matrix is as it comes."""
    a = rng.normal(size=(6, 6))
    q, r = evaluate(lambda a: ops.qr_op(a), a)
    expected = np.linalg.qr(a)
    np.testing.assert_allclose(q, expected[0], atol=1e-12)
    np.testing.assert_allclose(r, expected[1], atol=1e-12)


def test_matrices_of_lower_rank():
    for a in (np.zeros((3, 2)), np.ones((4, 3)), np.diag([1.0, 0.0, 2.0])):
        q, r = evaluate(lambda a: ops.qr_op(a), a)
        np.testing.assert_allclose(q @ r, a, atol=1e-14)
        np.testing.assert_allclose(q.T @ q, np.eye(q.shape[1]), atol=1e-14)
    assert np.isnan(evaluate(lambda a: ops.qr_op(a), np.full((2, 2), np.nan))[1][0]).all()


@pytest.mark.parametrize("shape", [(4, 4), (5, 3), (2, 3, 2)], ids=str)
def test_gradient_of_factors(shape, rng):
    a = rng.normal(size=shape)
    check_gradient(lambda a: ops.qr_op(a).q, a)
    check_gradient(lambda a: ops.qr_op(a).r, a)


def test_factors_without_a_gradient_say_so():
    with new_session():
        wide = ops.placeholder(dtype="float32", shape=[2, 3])
        with pytest.raises(NotImplementedError, match="ncols > nrows"):
            gradients(ops.qr_op(wide).q, wide)
        unknown = ops.placeholder(dtype="float32")
        with pytest.raises(NotImplementedError, match="dynamic shapes"):
            gradients(ops.qr_op(unknown).q, unknown)


def triangle(shape, is_lower, rng):
    a = rng.normal(size=shape) + 3 * np.eye(shape[-1])
    return a, np.tril(a) if is_lower else np.triu(a)


@pytest.mark.parametrize("is_adjoint", [False, True])
@pytest.mark.parametrize("is_lower", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_solutions_solve(is_lower, is_adjoint, dtype, rng):
    a, used = triangle((3, 5, 5), is_lower, rng)
    rhs = rng.normal(size=(3, 5, 2))
    x = evaluate(
        lambda a, b: ops.matrix_triangular_solve(a, b, lower=is_lower, adjoint=is_adjoint),
        a.astype(dtype), rhs.astype(dtype),
    )  # fmt: skip
    assert x.dtype == dtype
    product = (np.swapaxes(used, -1, -2) if is_adjoint else used) @ x
    np.testing.assert_allclose(product, rhs, atol=1e-4 if dtype == "float32" else 1e-12)


@pytest.mark.parametrize("is_adjoint", [False, True])
@pytest.mark.parametrize("is_lower", [False, True])
def test_gradient_of_solutions(is_lower, is_adjoint, rng):
    a, _ = triangle((2, 3, 3), is_lower, rng)
    rhs = rng.normal(size=(2, 3, 2))
    check_gradient(lambda a, b: ops.matrix_triangular_solve(a, b, lower=is_lower, adjoint=is_adjoint), a, rhs)


def test_same_bits_everywhere(rng):
    a = rng.normal(size=(7, 40, 33)).astype(np.float32)
    assert_same_bits(lambda a: list(ops.qr_op(a)), a)
    square = rng.normal(size=(9, 40, 40))
    assert_same_bits(lambda a, b: ops.matrix_triangular_solve(a, b), square, rng.normal(size=(9, 40, 21)))


def test_static_shapes():
    with new_session():
        a = ops.placeholder(dtype="float32", shape=[2, 5, 3])
        assert [out.shape.as_list() for out in ops.qr_op(a)] == [[2, 5, 3], [2, 3, 3]]
        assert [out.shape.as_list() for out in ops.qr_op(a, full_matrices=True)] == [[2, 5, 5], [2, 5, 3]]
        assert [out.shape.rank for out in ops.qr_op(ops.placeholder(dtype="float32"))] == [None, None]


def test_bad_input_is_refused():
    with new_session() as session:

        def fed(*shape):
            return of_unknown_shape(ops.constant(np.ones(shape, np.float32)))

        with pytest.raises(errors.InvalidArgumentError, match="must have rank >= 2"):
            session.run(ops.qr_op(fed(3)))
        with pytest.raises(ValueError, match="Shape must be at least rank 2"):
            ops.qr_op(np.ones(3))
        for matrix, rhs, message in (
            ((3,), (3, 3), "rank >= 2"), ((2, 3), (2, 1), "must be square"), ((3, 3), (2, 1), "incompatible shapes"),
            ((2, 3, 3), (3, 1), "incompatible shapes"), ((2, 3, 3), (4, 3, 1), "incompatible shapes"),
        ):  # fmt: skip
            with pytest.raises(errors.InvalidArgumentError, match=message):
                session.run(ops.matrix_triangular_solve(fed(*matrix), fed(*rhs)))
        with pytest.raises(errors.InvalidArgumentError, match="Input matrix is not invertible"):
            session.run(ops.matrix_triangular_solve(np.diag([1.0, 0.0]), np.ones((2, 1))))

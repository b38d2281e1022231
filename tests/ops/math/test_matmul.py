"""Products of matrices: values of all kinds and types, the order of additions, gradients, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

FLAGS = [(a, b) for a in (False, True) for b in (False, True)]


@pytest.mark.parametrize(("case", "expected"), cases("matmul"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


def fma_product(a, b):
    """Each element accumulated in ascending order by fused multiply-add, spelled in extended precision."""
    total = np.zeros((a.shape[0], b.shape[1]), np.float32)
    for k in range(a.shape[1]):
        total = (a[:, k : k + 1].astype(np.longdouble) * b[k] + total).astype(np.float32)
    return total


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
@pytest.mark.parametrize("sizes", [(1, 1, 1), (1, 7, 1), (5, 3, 9), (17, 65, 33), (33, 130, 129), (2, 1, 300)])
def test_products_are_close_to_exact_ones(sizes, transpose_a, transpose_b, rng):
    m, k, n = sizes
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    inputs = a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b
    for dtype, tolerance in ((np.float32, 1e-5), (np.float64, 1e-13)):
        arrays = [array.astype(dtype) for array in inputs]
        result = evaluate_built(lambda x, y: ops.matmul(x, y, transpose_a, transpose_b), *arrays)
        scale = np.abs(a) @ np.abs(b)
        assert result.dtype == dtype
        assert np.all(np.abs(result - a @ b) <= tolerance * (scale + 1))


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="needs an extended type to compute the expectation")
def test_elements_are_accumulated_in_ascending_order_by_fused_multiply_add(rng):
    a = (rng.standard_normal((9, 50)) * 10.0 ** rng.integers(-3, 3, (9, 50))).astype(np.float32)
    b = rng.standard_normal((50, 21)).astype(np.float32)
    np.testing.assert_array_equal(evaluate_built(ops.matmul, a, b), fma_product(a, b))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_accumulated_as_floats(dtype):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    ones = np.ones((1, 3000), numpy_type)
    assert evaluate_built(lambda x: ops.matmul(x, x, transpose_b=True), ones) == np.array(3000).astype(numpy_type)


def test_integers_wrap():
    x = np.array([[2**31 - 1, 1]], np.int32)
    assert evaluate_built(lambda x: ops.matmul(x, x, transpose_b=True), x) == 2
    x = np.array([[2**62, 3]])
    assert evaluate_built(lambda x: ops.matmul(x, x, transpose_b=True), x) == 9


@pytest.mark.parametrize(("adjoint_a", "adjoint_b"), FLAGS)
@pytest.mark.parametrize("batches", [((2,), (2,)), ((2, 3), (3,)), ((), (4,)), ((2, 1), (1, 3)), ((0,), (1,))])
def test_batches_are_broadcast(batches, adjoint_a, adjoint_b, rng):
    a, b = rng.standard_normal((*batches[0], 3, 4)), rng.standard_normal((*batches[1], 4, 5))
    inputs = np.swapaxes(a, -1, -2).copy() if adjoint_a else a, np.swapaxes(b, -1, -2).copy() if adjoint_b else b
    result = evaluate_built(lambda x, y: ops.matmul(x, y, adjoint_a=adjoint_a, adjoint_b=adjoint_b), *inputs)
    np.testing.assert_allclose(result, a @ b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_gradient_matches_differences(transpose_a, transpose_b, rng):
    a, b = (
        rng.standard_normal((4, 3) if transpose_a else (3, 4)),
        rng.standard_normal((5, 4) if transpose_b else (4, 5)),
    )
    check_gradient(lambda x, y: ops.matmul(x, y, transpose_a, transpose_b), a, b)
    check_gradient(
        lambda x, y: ops.matmul(x, y, transpose_a, transpose_b), np.stack([a, a + 1]), np.stack([b, b - 1])
    )


@pytest.mark.parametrize("batches", [((2, 1), (3,)), ((), (2,))])
def test_gradient_of_broadcast_batches(batches, rng):
    check_gradient(ops.matmul, rng.standard_normal((*batches[0], 2, 3)), rng.standard_normal((*batches[1], 3, 2)))


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_gradient_of_a_sparse_product_is_that_of_a_dense_one(transpose_a, transpose_b, rng):
    a = rng.standard_normal((4, 3) if transpose_a else (3, 4)).astype(np.float32)
    b = rng.standard_normal((5, 4) if transpose_b else (4, 5)).astype(np.float32)

    def gradients(x, y, **options):
        product = ops.matmul(x, y, transpose_a, transpose_b, **options)
        return tf.gradients(product * product, [x, y])

    for dense, sparse in zip(
        evaluate_built(gradients, a, b),
        evaluate_built(lambda x, y: gradients(x, y, a_is_sparse=True), a, b),
        strict=True,
    ):
        np.testing.assert_allclose(sparse, dense, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int32"])
def test_same_bits_everywhere(dtype, rng):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    a, b = (rng.standard_normal(shape) * 4 for shape in ((65, 70), (70, 130)))
    assert_same_bits(ops.matmul, a.astype(numpy_type), b.astype(numpy_type))


def test_same_bits_for_one_row_or_many(rng):
    """A row of a product does not depend on what else is multiplied, nor on whether it is in a batch."""
    a, b = rng.standard_normal((40, 300)).astype(np.float32), rng.standard_normal((300, 50)).astype(np.float32)
    whole = evaluate_built(ops.matmul, a, b)
    for rows in (slice(0, 1), slice(7, 9), slice(3, 40)):
        assert evaluate_built(ops.matmul, a[rows], b).tobytes() == whole[rows].tobytes()
    assert evaluate_built(ops.matmul, a[None], b[None]).tobytes() == whole.tobytes()
    sparse = evaluate_built(lambda x, y: ops.matmul(x, y, a_is_sparse=True), a, b)
    assert sparse.tobytes() == whole.tobytes()


@pytest.mark.parametrize(("transpose_a", "transpose_b"), FLAGS)
def test_same_bits_for_a_part_or_all_of_a_large_product(transpose_a, transpose_b, rng):
    """Large products are computed in blocks, whose factors are copied; small ones are not."""
    a, b = rng.standard_normal((450, 1100)).astype(np.float32), rng.standard_normal((1100, 150)).astype(np.float32)

    def product(a, b):
        inputs = a.T.copy() if transpose_a else a, b.T.copy() if transpose_b else b
        return evaluate_built(lambda x, y: ops.matmul(x, y, transpose_a, transpose_b), *inputs)

    whole = product(a, b)
    assert product(a[448:], b).tobytes() == whole[448:].tobytes()
    assert product(a[100:117], b[:, 140:]).tobytes() == whole[100:117, 140:].tobytes()


def test_nan_and_infinity_are_handed_on():
    a = np.array([[0, np.nan], [np.inf, 0]], np.float32)
    result = evaluate_built(ops.matmul, a, np.array([[0], [1]], np.float32))
    assert np.isnan(result).all()


def test_mixed_types_are_refused():
    with pytest.raises(TypeError, match="does not match type"):
        tf.matmul(tf.zeros([2, 2]), tf.zeros([2, 2], tf.float64))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(100, 1, 100), (64, 3, 40), (1, 70, 33), (200, 2, 500)])
def test_narrow_complex_products(dtype, sizes, rng):
    rows, columns, depth = sizes
    a = (rng.standard_normal((rows, depth)) + 1j * rng.standard_normal((rows, depth))).astype(dtype)
    b = (rng.standard_normal((depth, columns)) + 1j * rng.standard_normal((depth, columns))).astype(dtype)
    with tf.Session() as session:
        found = session.run([tf.matmul(a, b), tf.matmul(a.T.conj(), b, adjoint_a=True)])
    for value in found:
        np.testing.assert_allclose(value, a @ b, rtol=1e-4, atol=1e-3 if dtype == "complex64" else 1e-9)

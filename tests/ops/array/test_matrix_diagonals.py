"""MatrixDiagV2 and its kin: several diagonals at once, beside a loop over the elements."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate

BANDS = [0, 1, -1, [-1, 1], [0, 2], [-2, 0], [-2, -1], [1, 2]]
SHAPES = [(3, 4), (4, 3), (2, 3, 3), (2, 3, 4, 3)]


def diagonals_of(matrix, k, padding):
    """The diagonals of one matrix from the uppermost down, and which places hold elements of it."""
    lower, upper = (k, k) if isinstance(k, int) else k
    rows, columns = matrix.shape
    width = min(rows + min(upper, 0), columns - max(lower, 0))
    found = np.full((upper - lower + 1, width), padding, matrix.dtype)
    for d in range(lower, upper + 1):
        line = np.diagonal(matrix, d)
        found[upper - d, : line.size] = line
    return found[0] if isinstance(k, int) else found


def of_each(function, matrices, *arguments):
    flat = [function(matrix, *arguments) for matrix in matrices.reshape(-1, *matrices.shape[-2:])]
    return np.reshape(flat, (*matrices.shape[:-2], *flat[0].shape))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "complex64", "bool"])
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_and_what_they_are_put_into(shape, dtype, rng):
    matrices, padding = rng.integers(0, 100, shape).astype(dtype), np.ones((), dtype)
    i, j = np.indices(shape[-2:])

    def build(x, padding):
        for k in BANDS:
            parts = ops.matrix_diag_parts(x, k, padding)
            put = ops.matrix_set_diags(ops.zeros_like(x), parts, k)
            yield parts, put, ops.matrix_diags(parts, k, *shape[-2:], padding)

    results = evaluate(lambda *given: list(build(*given)), matrices, padding)
    for k, (parts, put, made) in zip(BANDS, results, strict=True):
        np.testing.assert_array_equal(parts, of_each(diagonals_of, matrices, k, padding))
        lower, upper = (k, k) if isinstance(k, int) else k
        is_in_band = (lower <= j - i) & (j - i <= upper)
        np.testing.assert_array_equal(put, np.where(is_in_band, matrices, np.zeros_like(matrices)))
        np.testing.assert_array_equal(made, np.where(is_in_band, matrices, padding))


@pytest.mark.parametrize(
    ("k", "rows", "columns", "shape"),
    [(0, -1, -1, (2, 2)), (1, -1, -1, (3, 3)), (-1, -1, -1, (3, 3)), (-1, 3, -1, (3, 2)), (1, -1, 4, None)],
)
def test_sizes_are_as_small_as_can_be(k, rows, columns, shape):
    diagonal = tf.constant([1.0, 2.0])
    if shape is None:  # of both sizes one has to be the smallest, and two rows are
        shape = (2, 4)
    known = ops.matrix_diags(diagonal, k, rows, columns, 9.0)
    unknown = ops.matrix_diags(tf.placeholder_with_default(diagonal, None), k, rows, columns, 9.0)
    assert known.shape.as_list() == list(shape)
    with tf.Session() as session:
        assert session.run(known).shape == session.run(unknown).shape == shape


def test_gradients(rng):
    matrices, diagonals = rng.standard_normal((2, 3, 4)), rng.standard_normal((2, 2, 3))
    check_gradient(lambda x: ops.matrix_diag_parts(x, [-1, 1], np.float64(0)), matrices)
    check_gradient(lambda x, d: ops.matrix_set_diags(x, d, [0, 1]), matrices, diagonals)
    check_gradient(lambda d: ops.matrix_diags(d, [-1, 0], -1, -1, np.float64(1)), diagonals)


def test_bits_do_not_depend_on_threads(rng):
    matrices = rng.standard_normal((60, 40, 30)).astype(np.float32)
    assert_same_bits(lambda x: ops.matrix_diag_parts(x, [-7, 5], np.float32(0)), matrices)
    assert_same_bits(lambda x: ops.matrix_set_diags(x, x[:, 0], 0), matrices)


# What is said when the shapes are known, and when they are not.
@pytest.mark.parametrize(
    ("k", "message"),
    [
        ([2, 1], "lower_diag_index must not be larger than upper_diag_index: 2 > 1"),
        ([0, 1, 2], "diag_index must have only one or two elements, received 3 elements."),
        (3, "lower_diag_index is out of bound"),
        ([0, 9], "upper_diag_index is out of bound"),
    ],
)
def test_bands_that_cannot_be(k, message):
    with pytest.raises(ValueError, match="diag_index"):
        ops.matrix_diag_parts(np.ones((3, 3)), k, np.float64(0))
    parts = ops.matrix_diag_parts(tf.placeholder_with_default(np.ones((3, 3)), None), k, np.float64(0))
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match=message):
        session.run(parts)


def test_later_versions_have_the_functions_take_diagonals():
    x = np.arange(12.0).reshape(3, 4)
    assert tf.linalg.diag_part(x, k=1).op.type == "MatrixDiagPart"
    with tf.compat.forward_compatibility_horizon(2019, 9, 1), tf.Session() as session:
        part = tf.linalg.diag_part(x, k=(0, 1), padding_value=7)
        assert session.run(part).tolist() == [[1, 6, 11], [0, 5, 10]]
        assert session.run(tf.linalg.set_diag(x, [0.0, 0, 0], k=-0)).diagonal().tolist() == [0, 0, 0]
        assert session.run(tf.linalg.diag(np.array([True]), k=1)).tolist() == [[False, True], [False, False]]

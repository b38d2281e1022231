"""MaskedMatmul, WALSComputePartialLhsAndRhs: values, bad input, same bits."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, evaluate


def run(op, *inputs):
    """What an op gives; floats are float32, integers int64."""
    arrays = [np.asarray(value) for value in inputs]
    return evaluate(op, *[array.astype({"f": "f", "i": "q"}.get(array.dtype.kind, array.dtype)) for array in arrays])


def test_masked_products_are_elements_of_the_product(rng):
    a, b = rng.standard_normal((9, 4)).astype("f"), rng.standard_normal((6, 4)).astype("f")
    places = np.stack([rng.integers(9, size=30), rng.integers(6, size=30)], 1)
    expected = (a @ b.T)[places[:, 0], places[:, 1]]
    for x, left in ((a, False), (a.T, True)):
        for y, right in ((b.T, False), (b, True)):
            found = run(ops.masked_matmul, np.ascontiguousarray(x), np.ascontiguousarray(y), places, left, right)
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_equations_are_sums_over_the_entries_of_a_row(rng):
    factors = rng.standard_normal((5, 3)).astype("f")
    indices = np.array([[0, 1], [2, 4], [0, 3], [2, 0]])
    values, weights = rng.standard_normal(4).astype("f"), rng.uniform(size=4).astype("f")
    for places, is_transposed in ((indices, False), (indices[:, ::-1], True)):
        lhs, rhs = run(
            ops.wals_compute_partial_lhs_and_rhs, factors, [], 0.5, [], places, values, weights, 3, is_transposed
        )
        for row in range(3):
            own = indices[:, 0] == row
            x = factors[indices[own, 1]]
            np.testing.assert_allclose(lhs[row], (x.T * weights[own]) @ x, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(rhs[row], (values[own] * (0.5 + weights[own])) @ x, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize(
    ("op", "inputs", "message"),
    [
        (
            "masked_matmul",
            (np.ones((2, 3)), np.ones((2, 3)), [[0, 0]], False, False),
            "Matrix shapes are incompatible",
        ),
        (
            "masked_matmul",
            (np.ones((2, 3)), np.ones((3, 2)), [[0, 2]], False, False),
            "column index 2 is out of bounds",
        ),
        ("masked_matmul", (np.ones((2, 3)), np.ones((3, 2)), [[0, 2, 1]], False, False), "matrix of shape .nnz 2."),
        ("wals", (np.ones((2, 1)), [], 0.1, [], [[0, 0]], [1.0], [1.0, 2], 1, False), "but not both"),
        ("wals", (np.ones((2, 1)), [], 0.1, [], [[1, 0]], [1.0], [1.0], 1, False), "input index 1 is out of bounds"),
        ("wals", (np.ones((2, 1)), [], 0.1, [], [[0, 2]], [1.0], [1.0], 1, False), "factor index 2 is out of bounds"),
        ("wals", (np.ones((2, 1)), [], 0.1, [], [[0, 1]], [1.0], [-1.0], 1, False), "weight of entry 0 is negative"),
    ],
)
def test_bad_input_is_refused(op, inputs, message):
    names = {"wals": "wals_compute_partial_lhs_and_rhs"}
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(getattr(ops, names.get(op, op)), *inputs)


def test_same_bits_everywhere(rng):
    factors = rng.standard_normal((50, 8)).astype("f")
    places = rng.integers(50, size=(4000, 2))
    assert_same_bits(lambda x: ops.masked_matmul(x, x, places, False, True), factors)
    weights = rng.uniform(size=4000).astype("f")
    assert_same_bits(
        lambda x: ops.wals_compute_partial_lhs_and_rhs(x, [], 0.1, [], places, weights, weights, 50, False)[0],
        factors,
    )

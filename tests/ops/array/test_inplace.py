"""tensorflow.python.ops.inplace_ops: rows set, increased and reduced, in copies or in place."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.ops.array import inplace
from stillflow.testing import assert_same_bits, evaluate

KINDS = {"update": lambda x, at, y: x.__setitem__(at, y), "add": np.add.at, "sub": np.subtract.at}


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8", "complex64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prefix", ["", "alias_"])
def test_rows_change_in_the_order_of_the_indices(prefix, kind, dtype, rng):
    x, v = rng.integers(10, 20, (5, 3)).astype(dtype), rng.integers(0, 5, (4, 3)).astype(dtype)
    before, expected, rows = x.copy(), x.copy(), np.array([1, -1, 6, 1])
    KINDS[kind](expected, rows % 5, v)
    function = getattr(inplace, f"{prefix}inplace_{kind}")
    np.testing.assert_array_equal(evaluate(lambda x, v: function(x, rows, v), x, v), expected)
    np.testing.assert_array_equal(x, before)


def test_one_row_and_all_of_them(rng):
    x = rng.standard_normal((4, 3))
    expected = x.copy()
    expected[2] -= x[0]
    np.testing.assert_array_equal(evaluate(lambda x: inplace.inplace_sub(x, 2, x[0]), x), expected)
    np.testing.assert_array_equal(evaluate(lambda x: inplace.inplace_add(x, None, x), x), 2 * x)


def test_strings_and_booleans_are_set():
    words = np.array([b"a", b"bc", b"d"], object)
    result = evaluate(lambda x: inplace.inplace_update(x, [2, 0], ["x", "y"]), words)
    assert result.tolist() == [b"y", b"bc", b"x"]
    result = evaluate(lambda x: inplace.inplace_update(x, [1], [True]), np.zeros(3, bool))
    assert result.tolist() == [False, True, False]
    with pytest.raises(errors.InvalidArgumentError, match="string"):
        evaluate(lambda x: inplace.inplace_add(x, [0], ["x"]), words)


def test_another_reader_keeps_the_operand(rng):
    x = rng.standard_normal((3, 2))

    def both(x):
        y = ops.identity(x * 1.0)
        return ops.concat([inplace.alias_inplace_add(y, [0], [[1.0, 1.0]]), y + 0.0], 0)

    expected = x.copy()
    expected[0] += 1
    np.testing.assert_array_equal(evaluate(both, x), np.concatenate([expected, x]))


@pytest.mark.parametrize(
    ("x", "i", "v", "message"),
    [
        (np.zeros((4, 3)), [0], np.zeros((2, 3)), "i and x shape doesn't match at index 0: \\[1\\] vs. \\[2,3\\]"),
        (np.zeros((4, 3)), [[0]], np.zeros((1, 3)), "i must be a vector. \\[1,1\\]"),
        (np.zeros((4, 3)), [0], np.zeros((1, 2)), "x and v shape doesn't match at index 1"),
        (np.zeros((4, 3)), 1, np.zeros((2, 3)), "ranks differ\\): \\[4,3\\] vs. \\[1,2,3\\]"),
        (np.zeros((0, 3)), [0], np.zeros((1, 3)), "x has no rows"),
        (np.float64(1), 0, np.float64(1), "ranks differ"),
    ],
)
def test_shapes_that_do_not_belong_together(x, i, v, message):
    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(lambda x, v: inplace.inplace_update(x, i, v), x, v)


def test_empty_tensors_are_zeros():
    assert evaluate(lambda x: inplace.empty_like(x), np.ones((2, 3), np.int32)).tolist() == [[0] * 3] * 2
    assert evaluate(lambda: inplace.empty([2], "string")).tolist() == [b"", b""]
    assert inplace.empty([4, 5], "float32").shape.as_list() == [4, 5]


def test_same_bits_for_any_number_of_threads(rng):
    x, v = rng.standard_normal((300, 100)), rng.standard_normal((500, 100))
    rows = rng.integers(0, 300, 500)
    assert_same_bits(lambda x, v: inplace.inplace_add(x, rows, v), x, v)

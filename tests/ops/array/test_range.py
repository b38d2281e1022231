"""range: the sums that TensorFlow makes one after the other."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits, evaluate

FLOATS = [  # start, limit, delta: of exact sums and of rounded ones
    (0, 70000, 1),
    (0.5, 1000, 0.25),
    (5, -3000, -2),
    (0, 3000, 0.1),
    (16, -100, -0.3),
    (-0.0, 3, 1),
    (1e-42, 3, 1),
    (16777200, 16777215, 1),
    (33554400, 33554500, 3),
    (2.0**-100, 2.0**-90, 2.0**-101),
    (2.0**100, 2.0**110, 2.0**99),
    (3, 3, 1),
]
INTEGERS = [(0, 70000, 1), (-7, 900, 3), (5, -2000, -2), (2**31 - 9, 2**31 - 1, 2), (4, 4, -1)]


@pytest.mark.parametrize(
    ("dtype", "case"),
    [(dtype, case) for dtype in ("float32", "float64") for case in FLOATS]
    + [(dtype, case) for dtype in ("int32", "int64") for case in INTEGERS],
)
def test_steps_are_added_up_in_order(dtype, case):
    start, limit, delta = map(np.dtype(dtype).type, case)
    result = evaluate(tf.range, start, limit, delta)
    assert result.size == max(np.ceil((float(limit) - float(start)) / float(delta)), 0)
    expected = np.empty(result.size, dtype)
    for i in range(result.size):
        expected[i] = start if i == 0 else expected[i - 1] + delta
    assert (result.dtype, result.tobytes()) == (expected.dtype, expected.tobytes())


def test_same_bits_everywhere():
    for start, limit, delta in [(0, 300000, 1), (0, 3000, 0.01), (-5, 1000, 0.25)]:
        assert_same_bits(tf.range, np.float32(start), np.float32(limit), np.float32(delta))


@pytest.mark.parametrize("case", [(0.0, float("inf"), 1.0), (0.0, float("nan"), 1.0), (0.0, 3e38, 1e-38)])
def test_sizes_that_int64_cannot_hold_are_refused(case):
    with pytest.raises(ValueError, match="Dimension -9223372036854775808 must be >= 0"):
        tf.range(*case)


def test_sizes_that_int64_cannot_hold_are_refused_in_a_run():
    with pytest.raises(tf.errors.InvalidArgumentError):
        evaluate(lambda limit: tf.range(0.0, limit, 1.0), np.float32(np.inf))

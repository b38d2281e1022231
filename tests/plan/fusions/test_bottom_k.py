"""Least elements found as the largest of the negated ones: where that is one step, and that no bit changes."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.session import isa
from stillflow.testing import ISAS


def rows_of(dtype, width):
    rng = np.random.default_rng(3)
    bits = rng.integers(0, 256, (2, width * np.dtype(dtype).itemsize), np.uint8).view(dtype)
    numbers = rng.normal(0, 50, (3, width)).astype(dtype)
    few = rng.choice(np.array([0, -1, 1], dtype), (2, width))
    with np.errstate(invalid="ignore"):
        return np.concatenate([bits, numbers, few, -few, numbers * 0])


def run(build, rows, isa_name=None):
    """What build(a placeholder) is, and the names of the steps that make it."""
    with tf.Graph().as_default(), tf.Session() as session:
        session._kernels = isa.kernels(isa_name)
        x = tf.placeholder(rows.dtype, rows.shape)
        results = session.run(build(x), {x: rows})
        text = list(session._requests.values())[-1].plans[0].text
        return results, [line.split()[1] for line in text.splitlines() if line[:3].strip().isdigit()]


def negated_top_k(x, k):
    """(-values, indices) of the negated rows, and the negated rows, so that all of them stay apart."""
    negated = -x
    values, indices = tf.nn.top_k(negated, k)
    return -values, indices, negated, values


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize(("width", "k"), [(5, 5), (100, 100), (700, 700), (700, 20), (700, 1), (9000, 9000)])
def test_same_bits_as_three_nodes(dtype, width, k):
    rows = rows_of(dtype, width)
    (values, indices, _, _), names = run(lambda x: negated_top_k(x, k), rows)
    assert "bottom_k" not in names
    for isa_name in ISAS:
        both, names = run(lambda x: negated_top_k(x, k)[:2], rows, isa_name)
        assert names == ["bottom_k"]
        assert both[0].tobytes() == values.tobytes()
        np.testing.assert_array_equal(both[1], indices)
        for output in (0, 1):
            alone, names = run(lambda x, output=output: negated_top_k(x, k)[output], rows, isa_name)
            assert names == ["bottom_k"]
            assert alone.tobytes() == both[output].tobytes()


def test_sort_and_argsort_are_one_step():
    rows = rows_of("float32", 300)
    assert run(tf.sort, rows)[1] == ["bottom_k"]
    assert run(tf.argsort, rows)[1] == ["bottom_k"]
    assert "bottom_k" not in run(lambda x: tf.sort(x, direction="DESCENDING"), rows)[1]
    assert "bottom_k" not in run(tf.sort, np.ones((2, 9), np.float16))[1]


def test_the_gradient_is_that_of_three_nodes():
    x = np.array([[3.0, 1.0, 2.0]], np.float32)
    gradient, _ = run(lambda x: tf.gradients(tf.sort(x) * [[1.0, 10.0, 100.0]], x)[0], x)
    np.testing.assert_array_equal(gradient, [[100, 1, 10]])


def test_a_negation_of_another_branch_stays():
    x = np.array([3.0, 1.0, 2.0], np.float32)
    for is_wanted in (True, False):
        result, _ = run(
            lambda x, w=is_wanted: tf.cond(tf.placeholder_with_default(w, []), lambda: tf.sort(x), lambda: x), x
        )
        np.testing.assert_array_equal(result, np.sort(x) if is_wanted else x)

"""Reductions: all operations, types and axes; empty, large and special input; gradients."""

import itertools

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient
from stillflow.testing import evaluate as evaluate_built

NUMPY = {
    "reduce_sum": np.sum, "reduce_mean": np.mean, "reduce_prod": np.prod, "reduce_max": np.max, "reduce_min": np.min,
    "reduce_euclidean_norm": lambda x, **options: np.sqrt(np.sum(x * x, **options)),
}  # fmt: skip


@pytest.mark.parametrize(("case", "expected"), cases("reduction"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    if isinstance(expected, str) or expected.dtype.kind in "biu":
        assert_same(evaluate(case), expected)
    else:  # TensorFlow rounds the steps of products of half types
        assert_same(evaluate(case), expected, rtol=1e-2 if expected.dtype.itemsize == 2 else 1e-6)


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", NUMPY)
def test_all_sets_of_axes(name, keepdims, rng):
    """Of an array whose dimensions are 1 at either end and in the middle."""
    x = rng.uniform(0.5, 1.5, (1, 3, 2, 1, 4, 5, 1))
    for count in range(x.ndim + 1):
        for axes in itertools.combinations(range(x.ndim), count):
            expected = NUMPY[name](x, axis=axes, keepdims=keepdims)
            given = [axis - x.ndim if axis % 2 else axis for axis in axes]
            result = evaluate_built(lambda t, given=given: getattr(ops, name)(t, given, keepdims), x)
            np.testing.assert_allclose(result, expected, rtol=1e-13)


@pytest.mark.parametrize("size", [1, 31, 32, 33, 1023, 1024, 1025, 33000, 100003])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_min", "reduce_mean"])
def test_sizes_around_lanes_runs_and_chunks(name, size, rng):
    x = rng.standard_normal((3, size))
    reduce = getattr(ops, name)
    for array, axis in ((x, 1), (x.T.copy(), 0), (x[0], None)):
        result = evaluate_built(lambda t, axis=axis: reduce(t, axis), array)
        np.testing.assert_allclose(result, NUMPY[name](array, axis=axis), rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.int32, np.int8])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 10, 16, 17, 20, 21, 28, 29, 31, 32, 33, 64, 129, 1024])
def test_short_rows_have_the_bits_of_each_row_alone(length, dtype, rng):
    """-0 and NaN included, in as many rows as fill tiles and some more."""
    x = rng.uniform(-100, 100, (71, length)).astype(dtype)
    x.reshape(-1)[::5] = -0.0
    if dtype().dtype.kind == "f":
        x.reshape(-1)[3::53] = np.nan
    some = [0, 1, 7, 15, 16, 31, 32, 63, 64, 70]  # edges of tiles, and rows within

    def build(*tensors):
        for name in ("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"):
            yield [getattr(ops, name)(t, -1) for t in tensors]

    for whole, *alone in evaluate_built(lambda *tensors: list(build(*tensors)), x, *x[some]):
        assert whole[some].tobytes() == np.array(alone, dtype).tobytes()


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int64, np.int32, np.int8])
@pytest.mark.parametrize("rows", [2, 63, 64, 1023, 1024, 1100, 4999])
def test_few_columns_have_the_bits_of_many(rows, dtype, rng):
    """Several tables of so many rows; -0 and NaN included."""
    many = rng.uniform(-100, 100, (3, rows, 40)).astype(dtype)
    many[0, ::5] = -0.0
    if dtype().dtype.kind == "f":
        many[1].reshape(-1)[3 :: rows * 7] = np.nan
    for name in ("reduce_sum", "reduce_max", "reduce_prod"):

        def build(t, name=name):
            return getattr(ops, name)(t, 1)

        expected = evaluate_built(build, many)
        for columns in range(2, 11):
            few = np.ascontiguousarray(many[..., :columns])
            assert evaluate_built(build, few).tobytes() == expected[:, :columns].tobytes()
    assert_same_bits(lambda t: ops.reduce_sum(t, 1), many[..., :3].copy())


@pytest.mark.parametrize("length", [1, 2, 3, 4, 10, 16, 31, 32, 33, 100])
def test_short_rows_of_truths(length, rng):
    for rows in (2, 63, 64, 65, 200):
        x = rng.random((rows, length)) < 0.5 ** (1 / length)
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_all(t, 1), x), x.all(1))
        np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_any(t, 1), ~x), (~x).any(1))


@pytest.mark.parametrize(
    "shape", [(3, 2, 700), (700, 3, 2), (1, 5, 9), (40, 2, 33), (5, 3, 64), (9, 2, 320), (3, 2, 2080)]
)
def test_rows_in_segments_have_the_bits_of_adjacent_ones(shape, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    whole = (10 * x).astype(np.int64)
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_sum(t, (0, 2)), whole), whole.sum((0, 2)))
    x[0, 1, 1] = np.nan
    adjacent = np.ascontiguousarray(x.transpose(1, 0, 2)).reshape(shape[1], -1)
    for name in ("reduce_sum", "reduce_max", "reduce_prod"):
        reduce = getattr(ops, name)
        result = evaluate_built(lambda t, reduce=reduce: reduce(t, (0, 2)), x)
        assert result.tobytes() == evaluate_built(lambda t, reduce=reduce: reduce(t, 1), adjacent).tobytes()


@pytest.mark.parametrize("axis", [0, 1, 2, (0, 1), (1, 2), (0, 2), None])
@pytest.mark.parametrize("shape", [(0, 3, 2), (3, 0, 2), (3, 2, 0), (0, 0, 0)])
def test_nothing_reduces_to_what_changes_nothing(shape, axis):
    x = np.zeros(shape, np.float32)
    for name, neutral in (("sum", 0), ("prod", 1), ("max", -np.inf), ("min", np.inf), ("mean", np.nan)):
        result = evaluate_built(lambda t, name=name: getattr(ops, f"reduce_{name}")(t, axis), x)
        expected = np.full(np.sum(x, axis=axis).shape, neutral, np.float32)
        np.testing.assert_array_equal(result, expected)
    for name, neutral in (("all", True), ("any", False)):
        result = evaluate_built(lambda t, name=name: getattr(ops, f"reduce_{name}")(t, axis), x.astype(bool))
        assert np.all(result == neutral)


@pytest.mark.parametrize("axes", [(0, 2), (1, 3), (0, 2, 4), (1, 3, 4)])
@pytest.mark.parametrize("empty", range(5))
def test_nothing_reduces_along_many_axes(empty, axes):
    x = np.ones([0 if i == empty else 2 for i in range(5)], np.float32)
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_sum(t, axes), x), np.sum(x, axes))


def test_no_axes_reduce_nothing(rng):
    x = rng.standard_normal((2, 3))
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_sum(t, []), x), x)
    np.testing.assert_array_equal(evaluate_built(lambda t: ops.reduce_mean(t, []), x), x)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.complex64])
def test_a_norm_over_single_elements_is_the_input_as_in_tensorflow(dtype):
    x = -np.arange(1, 5).reshape(2, 1, 2).astype(dtype)
    for axes in ([], [1]):
        norm = evaluate_built(lambda t, axes=axes: ops.reduce_euclidean_norm(t, axes, keepdims=True), x)
        np.testing.assert_array_equal(norm, x)


_PASSING_OVER = {"reduce_max": np.nanmax, "reduce_min": np.nanmin}


@pytest.mark.parametrize("position", [0, 1, 31, 32, 999, 1024, 5000])
@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_sum"])
def test_nan_is_handed_on_or_passed_over_anywhere(name, position):
    expected = 1 if name in _PASSING_OVER else np.nan
    x = np.ones(5001, np.float32)
    x[position] = np.nan
    np.testing.assert_array_equal(evaluate_built(getattr(ops, name), x), expected)
    columns = np.ones((5001, 2), np.float32)
    columns[position, 1] = np.nan
    result = evaluate_built(lambda t: getattr(ops, name)(t, 0), columns)
    np.testing.assert_array_equal(result, [5001 if name == "reduce_sum" else 1, expected])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_types_are_accumulated_as_floats(dtype):
    numpy_type = tf.as_dtype(dtype).as_numpy_dtype
    ones = np.ones(3000, numpy_type)
    assert evaluate_built(ops.reduce_sum, ones) == np.array(3000).astype(numpy_type)
    assert evaluate_built(lambda x: ops.reduce_sum(x, 0), ones[:, None])[0] == np.array(3000).astype(numpy_type)
    assert evaluate_built(ops.reduce_mean, np.full(70000, 3, numpy_type)) == 3


def test_sums_of_floats_are_accurate():
    """10^6 times 0.1f, and a sum whose terms nearly cancel, in both layouts."""
    x = np.full((1000000, 1), 0.1, np.float32)
    for axis in (0, None):
        assert abs(evaluate_built(lambda t, axis=axis: ops.reduce_sum(t, axis), x).item() / 100000.0015 - 1) < 1e-5


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("count", [256, 65536])
def test_means_of_small_integers_divide_by_any_count(dtype, count):
    """256 is 0 as an int8; so is 65536 as an int16."""
    x = np.zeros(count, dtype)
    x[0] = 77
    assert evaluate_built(ops.reduce_mean, x) == 0
    assert evaluate_built(ops.reduce_mean, x[:7]) == 11


def test_means_of_integers_are_cut_towards_zero():
    assert evaluate_built(ops.reduce_mean, np.array([-1, -2], np.int32)) == -1
    assert evaluate_built(ops.reduce_mean, np.array([-1, -2], np.int64)) == -1
    assert evaluate_built(ops.reduce_mean, np.array([], np.int32)) == 0


@pytest.mark.parametrize("name", [*NUMPY, "reduce_all"])
def test_same_bits_everywhere(name, rng):
    x = rng.uniform(0.9, 1.1, (70, 33, 29)).astype(np.float32)
    x = x > 0.91 if name == "reduce_all" else x
    for axis in (0, 1, 2, (0, 2), (1, 2), None):
        assert_same_bits(lambda t, axis=axis: getattr(ops, name)(t, axis), x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_max", "reduce_min", "reduce_prod"])
def test_nan_has_the_same_bits_everywhere(name, dtype, rng):
    """A quiet or signalling one, of either sign, and that of infinities; rows and columns without one beside it."""
    x = rng.choice([-1, 1], (70, 300)) * rng.uniform(0.99, 1.01, (70, 300))
    x = x.astype(dtype)
    infinity = int(np.array(np.inf, dtype).view(f"u{x.itemsize}"))
    quiet = int(np.array(np.nan, dtype).view(f"u{x.itemsize}")) & ~infinity
    sign = 1 << (8 * x.itemsize - 1)
    for row, column, nan in ((5, 3, quiet + 5), (40, 130, sign + 1), (69, 299, sign + quiet), (0, 0, 0)):
        given = x.copy()
        given.view(f"u{x.itemsize}")[row, column] = infinity + nan
        if nan == 0:
            given[9, 9] = -np.inf
        for axis in (0, 1, None):
            assert_same_bits(lambda t, axis=axis: getattr(ops, name)(t, axis), given)
            result = evaluate_built(lambda t, axis=axis: getattr(ops, name)(t, axis), given)
            if name in _PASSING_OVER:
                np.testing.assert_array_equal(result, _PASSING_OVER[name](given, axis=axis))
                continue
            with np.errstate(all="ignore"):
                expected = NUMPY[name](given.astype(np.float64), axis=axis)
            np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))


@pytest.mark.parametrize("axis", [0, 1, -1, (0, 2), (), None])
@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_prod"])
def test_gradient_matches_differences(name, axis, rng):
    x = rng.permutation(np.linspace(0.5, 2, 24)).reshape(2, 3, 4)
    axis = list(axis) if isinstance(axis, tuple) else axis
    for keepdims in (False, True):
        check_gradient(lambda t, keepdims=keepdims: getattr(ops, name)(t, axis, keepdims), x)


def test_gradient_of_a_product_with_zeros(rng):
    for zeros in (1, 2):
        x = rng.uniform(0.5, 2, (2, 4))
        x[0, :zeros] = 0
        check_gradient(lambda t: ops.reduce_prod(t, 1), x)


def test_equal_extrema_share_the_gradient():
    x = tf.constant([3.0, 1.0, 3.0, 3.0])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(tf.gradients(tf.reduce_max(x), x)[0]), [1 / 3, 0, 1 / 3, 1 / 3])


def test_axes_from_a_feed_are_checked(new_graph):
    x, axes = tf.constant(np.ones((2, 3), np.float32)), tf.placeholder(tf.int32)
    total = tf.reduce_sum(x, axes)
    with tf.Session() as session:
        assert session.run(total, {axes: [-1, 0]}) == 6
        assert session.run(total, {axes: [0, 0]}).tolist() == [2, 2, 2]
        for wrong in (2, [-3], 2**31 - 1, -(2**31)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
                session.run(total, {axes: wrong})
        with pytest.raises(tf.errors.InvalidArgumentError, match="scalar or vector"):
            session.run(total, {axes: [[0]]})

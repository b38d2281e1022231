"""TopK and InTopK: values and indices, ties, NaN, types, gradients, bad input, bits."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import ISAS, assert_same_bits, check_gradient, evaluate, of_unknown_shape


def expected_of(x, k):
    """By a stable sort of the negated elements: of equal ones the first comes first."""
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")[..., :k]
    return np.take_along_axis(x, order, -1), order


@pytest.mark.parametrize("k", [0, 1, 2, 3, 10, 32])
@pytest.mark.parametrize("shape", [(32,), (3, 32), (2, 3, 40), (0, 32), (2, 1000)])
def test_values_and_indices_match_numpy(shape, k, rng):
    x = rng.normal(0, 1, shape).astype(np.float32)
    values, indices = evaluate(lambda x: tuple(ops.top_k(x, k)), x)
    expected_values, expected_indices = expected_of(x, k)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(indices, expected_indices)
    assert indices.dtype == np.int32


@pytest.mark.parametrize("k", [1, 7, 50])
def test_of_equal_elements_the_first_comes_first(k, rng):
    x = rng.integers(0, 4, (20, 50)).astype(np.float32)
    values, indices = evaluate(lambda x: tuple(ops.top_k(x, k)), x)
    expected_values, expected_indices = expected_of(x, k)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(indices, expected_indices)


@pytest.mark.parametrize(
    "dtype", ["float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16"]
)
def test_every_type(dtype, rng):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    x = rng.integers(0, 100, (3, 30)).astype(dtype)
    values, indices = evaluate(lambda x: tuple(ops.top_k(x, 5)), x)
    expected_values, expected_indices = expected_of(x, 5)
    assert values.dtype == dtype
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(indices, expected_indices)


def test_large_integers_are_told_apart():
    x = np.array([2**62, 2**62 + 1, -(2**63)], np.int64)
    values, indices = evaluate(lambda x: tuple(ops.top_k(x, 3)), x)
    np.testing.assert_array_equal(indices, [1, 0, 2])
    np.testing.assert_array_equal(values, x[[1, 0, 2]])


def test_nan_comes_first_and_infinities_in_order():
    x = np.array([1, np.nan, -np.inf, np.inf, np.nan], np.float32)
    _, indices = evaluate(lambda x: tuple(ops.top_k(x, 5)), x)
    np.testing.assert_array_equal(indices, [1, 4, 3, 0, 2])


ORDERED_TYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "uint16"]
SPECIAL_NUMBERS = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e-40, -1e-40, 1e-310, 6e-8]


def rows_of(dtype, width, rng):
    """Rows of random bits, of few different elements, of equal ones, and in both orders."""
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    bits = rng.integers(0, 256, (2, width * dtype.itemsize), np.uint8).view(dtype)
    few = SPECIAL_NUMBERS if dtype.kind not in "iu" else [0, 1, np.iinfo(dtype).max, np.iinfo(dtype).min]
    with np.errstate(all="ignore"):
        few = rng.choice(np.array(few, np.float64 if dtype.kind not in "iu" else object), (2, width)).astype(dtype)
    equal = np.full((1, width), 3, dtype)
    ascending = np.sort((np.arange(width) % 120).astype(dtype))[None]
    return np.concatenate([bits, few, equal, ascending, ascending[:, ::-1]])


def order_of(rows, k):
    """Places by a stable sort: NaN first; a denormal is zero, but of a half, which is a normal float."""
    if rows.dtype.kind in "iu":
        return np.argsort(np.iinfo(rows.dtype).max - rows.astype(object), axis=-1, kind="stable")[:, :k]
    tiny = 0 if rows.dtype == np.float16 else 2.0**-1022 if rows.dtype == np.float64 else 2.0**-126
    with np.errstate(invalid="ignore"):  # signalling NaNs
        wide = rows.astype(np.float64)
    wide = np.where(np.abs(wide) < tiny, 0, wide)
    return np.lexsort((-wide, ~np.isnan(wide)), axis=-1)[:, :k]


@pytest.mark.parametrize("dtype", ORDERED_TYPES)
@pytest.mark.parametrize(
    ("width", "k"),
    [
        (1, 1),
        (10, 1),
        (10, 3),
        (64, 64),
        (65, 65),
        (127, 9),
        (128, 2),
        (300, 37),
        (1000, 30),
        (1000, 125),
        (9000, 9000),
    ]
    + [(9000, 7), (9000, 1), (9000, 1000)],
)
def test_rows_of_any_kind_on_every_instruction_set(dtype, width, k, rng):
    rows = rows_of(dtype, width, rng)
    order = order_of(rows, k)
    for isa_name in ISAS:
        values, indices = evaluate(lambda x: tuple(ops.top_k(x, k)), rows, isa_name=isa_name)
        np.testing.assert_array_equal(indices, order)
        assert values.tobytes() == np.take_along_axis(rows, order, -1).tobytes()


def assert_sorted(rows, isa_name):
    """Each output alone, as a kernel that need not make the other one makes it."""
    width = rows.shape[-1]
    order = order_of(rows, width)
    values = evaluate(lambda x: ops.top_k(x, width)[0], rows, isa_name=isa_name)
    assert values.tobytes() == np.take_along_axis(rows, order, -1).tobytes()
    indices = evaluate(lambda x: ops.top_k(x, width)[1], rows, isa_name=isa_name)
    np.testing.assert_array_equal(indices, order)


@pytest.mark.parametrize("dtype", ORDERED_TYPES)
def test_rows_of_any_width_are_sorted_where_one_output_is_read(dtype, rng):
    for width in [*range(1, 36), 63, 64, 65, 100, 128, 200, 257, 300, 513, 1000, 1024, 5000]:
        rows = rows_of(dtype, width, rng)
        for isa_name in ISAS:
            assert_sorted(rows, isa_name)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_bits_that_the_order_does_not_tell_apart_stay_in_their_order(dtype, rng):
    import ml_dtypes

    dtype = np.dtype(ml_dtypes.bfloat16) if dtype == "bfloat16" else np.dtype(dtype)
    word = np.dtype(f"u{dtype.itemsize}")
    sign = 1 << (8 * dtype.itemsize - 1)
    nan = int(np.array(np.nan, dtype).view(word))
    one = int(np.array(1, dtype).view(word))
    kinds = [[0], [sign], [0, sign], [3], [0, 3], [sign, sign + 3]]
    kinds += [[nan], [nan + sign], [nan, nan + 1], [nan + sign, nan]]
    for kind in kinds:
        for width in (4, 40, 400):
            rows = rng.choice(np.array([one, one + sign, one + 5, *kind], word), (3, width)).view(dtype)
            for isa_name in ISAS:
                assert_sorted(rows, isa_name)


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_long_numbers_that_differ_in_their_last_bits_only(dtype, rng):
    close = (1000 + rng.integers(0, 50, (2, 900))).astype(np.int64)
    for far in (0, 2**40, 2**62):
        rows = close.copy()
        rows[:, 0] = far
        for isa_name in ISAS:
            assert_sorted(rows if dtype == "int64" else (rows + 2**61).view(np.float64), isa_name)


def test_the_old_op_has_k_as_an_attribute(rng):
    x = rng.normal(size=(2, 9)).astype(np.float32)
    values, _ = evaluate(lambda x: tuple(ops.top_k_op(x, k=4)), x)
    np.testing.assert_array_equal(values, expected_of(x, 4)[0])


def test_bad_k_is_refused():
    x = ops.constant([[1.0, 2.0]])
    with pytest.raises(ValueError, match="input must have last dimension >= k = 3 but is 2"):
        ops.top_k(x, 3)
    with pytest.raises(ValueError, match="must be non-negative but is -1"):
        ops.top_k(x, -1)
    with pytest.raises(ValueError, match="Shape must be at least rank 1 but is rank 0"):
        ops.top_k(1.0)
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        ops.top_k(x, [1])


@pytest.mark.parametrize(
    ("k", "message"),
    [
        (3, "input must have at least k columns. Had 2, needed 3"),
        (-1, "Need k >= 0, got -1"),
        ([1], "k must be scalar"),
    ],
)
def test_k_that_turns_out_bad_is_refused(k, message):
    def build(x, k):
        return ops.top_k(x, of_unknown_shape(k))[0]

    with pytest.raises(errors.InvalidArgumentError, match=message):
        evaluate(build, np.array([[1.0, 2.0]], np.float32), np.array(k, np.int32))


def test_gradients_go_where_the_elements_came_from(rng):
    x = rng.permutation(24).reshape(2, 3, 4).astype(np.float64)
    check_gradient(lambda x: ops.top_k(x, 2)[0], x)
    check_gradient(lambda x: ops.top_k_op(x, k=3)[0], x)


# ---- InTopK -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("target_type", [np.int32, np.int64])
@pytest.mark.parametrize("k", [0, 1, 3, 10, 100])
def test_whether_targets_are_among_the_largest(k, target_type, rng):
    predictions = rng.normal(0, 1, (50, 10)).astype(np.float32)
    targets = rng.integers(0, 10, 50).astype(target_type)
    result = evaluate(lambda p, t: ops.in_top_k(p, t, k), predictions, targets)
    larger = (predictions > predictions[np.arange(50), targets][:, None]).sum(1)
    np.testing.assert_array_equal(result, larger < k)
    assert result.dtype == np.bool_


def test_classes_as_large_as_the_last_are_in():
    predictions = np.array([[3, 2, 2, 2, 1]], np.float32)
    results = [
        evaluate(lambda p, t, i=i: ops.in_top_k(p, [i], 2), predictions, np.zeros(1, np.int32)) for i in range(5)
    ]
    np.testing.assert_array_equal(np.concatenate(results), [True, True, True, True, False])


def test_no_class_and_predictions_that_are_not_finite_are_out():
    predictions = np.array([[1, 2], [1, 2], [1, np.nan], [np.inf, 1], [1, 2]], np.float32)
    targets = np.array([-1, 2, 0, 1, 1], np.int32)
    result = evaluate(lambda p, t: ops.in_top_k(p, t, 2), predictions, targets)
    np.testing.assert_array_equal(result, [False, False, False, False, True])
    old = evaluate(lambda p, t: ops.in_top_k_op(p, t, k=2), predictions, targets)
    np.testing.assert_array_equal(old, result)


def test_shapes_of_targets_that_do_not_fit_are_refused():
    predictions = ops.constant([[1.0, 2.0]])
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        ops.in_top_k(predictions, [0, 1], 1)
    with pytest.raises(ValueError, match="Shape must be rank 1 but is rank 2"):
        ops.in_top_k(predictions, [[0]], 1)

    def build(p, t):
        return ops.in_top_k(of_unknown_shape(p), of_unknown_shape(t), 1)

    with pytest.raises(
        errors.InvalidArgumentError, match="First dimension of predictions 1 must match length of targets 2"
    ):
        evaluate(build, np.ones((1, 2), np.float32), np.zeros(2, np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="predictions must be 2-dimensional"):
        evaluate(build, np.ones(2, np.float32), np.zeros(2, np.int32))
    with pytest.raises(errors.InvalidArgumentError, match="targets must be 1-dimensional"):
        evaluate(build, np.ones((1, 2), np.float32), np.zeros((1, 1), np.int32))


def test_same_bits(rng):
    x = rng.integers(0, 50, (300, 90)).astype(np.float32)
    assert_same_bits(lambda x: tuple(ops.top_k(x, 7)), x)
    assert_same_bits(lambda x: ops.in_top_k(x, np.arange(300) % 90, 7), x)

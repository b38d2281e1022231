"""Arrays that no cache holds are written by other instructions: values, edges of lines, threads, instruction sets."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import FEW_COMBINATIONS, evaluate
from stillflow.testing import assert_same_bits as assert_same_bits_everywhere

MI = 1 << 20  # 8 Mi floats are streamed


def assert_same_bits(build, *arrays):
    return assert_same_bits_everywhere(build, *arrays, combinations=FEW_COMBINATIONS)


def floats(*shape):
    return np.random.default_rng(len(shape)).random(shape, np.float32) * 2 - 1


def small_bytes(*shape):
    return np.resize(np.arange(251, dtype=np.uint8), shape)


# What is built from arrays, what makes these, and their shapes: they are large, so only their test makes them.
ELEMENTWISE = {
    "same shapes": (lambda a, b: a - b, floats, [(8 * MI + 5,), (8 * MI + 5,)]),
    "short rows": (lambda a, b: a * b, floats, [(90001, 97), (97,)]),
    "long columns": (lambda a, b: b - a, floats, [(4099, 2053), (4099, 1)]),
    "rows and columns": (lambda a, b: a + b, floats, [(4099, 1), (1, 2053)]),
    "a scalar": (lambda a, b: a / b, floats, [(8 * MI + 5,), ()]),
    "rows of whole lines": (lambda a, b: a + b, floats, [(32771, 256), (256,)]),
    "columns of whole lines": (lambda a, b: a - b, floats, [(8197, 1024), (8197, 1)]),
    "chained columns": (lambda a, b, c: (a - b) * c, floats, [(131101, 64), (131101, 1), (131101, 1)]),
    "columns of part tiles": (lambda a, b: a - b, floats, [(13108, 640), (13108, 1)]),
    "bytes": (lambda a, b: a + b, small_bytes, [(33 * MI + 7,), (33 * MI + 7,)]),
}
RUNS = {
    "slice of long rows": (lambda x: x[:, 1:], floats, [(4099, 2053)]),
    "slice of short rows": (lambda x: x[:, 3:68], floats, [(131101, 70)]),
    "reversed rows": (lambda x: x[::-1], floats, [(4099, 2053)]),
    "rows of bytes": (lambda x: x[:, 1:], small_bytes, [(1200011, 31)]),
    "matrices": (lambda x: x[:, 1:, 5:], floats, [(129, 67, 1031)]),
}


@pytest.mark.parametrize("build, make, shapes", [*ELEMENTWISE.values(), *RUNS.values()], ids=[*ELEMENTWISE, *RUNS])
def test_what_numpy_spells_alike(build, make, shapes):
    arrays = [make(*shape) for shape in shapes]
    np.testing.assert_array_equal(assert_same_bits(build, *arrays), build(*arrays))


def test_chains_and_conditions():
    a, b, c = floats(4099, 2053), floats(4099, 2053)[::-1].copy(), floats(2053)

    def build(x, y, z):
        return tf.where(x > y, tf.tanh(x * y + z), z * tf.ones_like(x))

    expected = np.where(a > b, np.tanh(a * b + c), c)
    np.testing.assert_allclose(assert_same_bits(build, a, b, c), expected, rtol=1e-6, atol=1e-7)


def doubles(*shape):
    return floats(*shape).astype(np.float64)


def floats_of_all_kinds(count):
    values = floats(count) * 100
    values[500:507] = [np.nan, np.inf, -np.inf, -0.0, 1e-40, 3e38, -3e38]
    return values


# Functions that are streamed by themselves, alone and at the end of a chain.
COSTLY = {
    "tanh": (tf.tanh, floats, [(8 * MI + 5,)]),
    "exp": (tf.exp, floats_of_all_kinds, [(8 * MI + 5,)]),
    "log": (tf.log, floats_of_all_kinds, [(8 * MI + 5,)]),
    "log1p of a product of doubles": (lambda a, b: tf.log1p(a * b), doubles, [(4 * MI + 3,)] * 2),
    "erfc of rows of whole lines": (lambda a, b: tf.math.erfc(a - b), floats, [(32771, 256), (256,)]),
}


@pytest.mark.parametrize("build, make, shapes", COSTLY.values(), ids=COSTLY)
def test_costly_functions(build, make, shapes):
    arrays = [make(*shape) for shape in shapes]
    result = assert_same_bits(build, *arrays)
    for part in (slice(0, 999), slice(len(result) // 3, len(result) // 3 + 999), slice(len(result) - 999, None)):
        small = [array[part] if len(array) == len(result) else array for array in arrays]
        np.testing.assert_array_equal(result[part], evaluate(build, *small))


@pytest.mark.parametrize("given, wanted, count", [(np.uint8, np.float64, 5 * MI), (np.float32, np.float16, 17 * MI)])
def test_casts(given, wanted, count):
    values = (np.arange(count + 3) % 251).astype(given)
    found = assert_same_bits(lambda x: tf.cast(x, wanted), values)
    np.testing.assert_array_equal(found, values.astype(wanted))


def test_several_results_of_one_chain():
    a, b = floats(4099, 2053), floats(2053)

    def build(x, y):
        product = x * y
        return product, tf.exp(product) + x, product > x

    product = a * b
    expecteds = product, np.exp(product) + a, product > a
    for result, expected in zip(assert_same_bits(build, a, b), expecteds, strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "shape, axes, dtype",
    [
        ((4096, 2048), (1, 0), np.float32),
        ((2897, 2903), (1, 0), np.float32),
        ((5801, 5803), (1, 0), np.int8),
        ((17, 37, 41, 336), (0, 2, 1, 3), np.float32),
        ((3, 1447, 2017), (0, 2, 1), np.float32),
        ((2797103, 3), (1, 0), np.float32),
        ((3, 2797103), (1, 0), np.float32),
        ((513, 16411), (1, 0), np.float32),
        ((37, 411, 601), (2, 1, 0), np.float32),
        ((3, 887, 887, 4), (0, 3, 1, 2), np.float32),
        ((11184823, 3), (1, 0), np.uint8),
        ((2897, 5801), (1, 0), np.int16),
        ((2049, 2051), (1, 0), np.float64),
        ((1447, 1453), (1, 0), np.complex128),
    ],
)
def test_transposes(shape, axes, dtype):
    x = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    np.testing.assert_array_equal(assert_same_bits(lambda value: tf.transpose(value, axes), x), x.transpose(axes))


@pytest.mark.parametrize(
    "rows, widths",
    [
        (4100, (1024, 1024)),
        (4100, (3, 2045)),
        (1048583, (1, 5, 3)),
        (93001, (17, 70, 5)),
    ],
)
def test_concat(rows, widths):
    values = [floats(rows, width) for width in widths]
    found = assert_same_bits(lambda *parts: tf.concat(parts, 1), *values)
    np.testing.assert_array_equal(found, np.concatenate(values, 1))


def test_concat_of_whole_arrays():
    values = [floats(4 * MI + 3), floats(5), floats(4 * MI + 1)]
    np.testing.assert_array_equal(evaluate(lambda *parts: tf.concat(parts, 0), *values), np.concatenate(values))


@pytest.mark.parametrize("shape, axis", [((4099, 1027), 1), ((131101, 33), 1), ((4 * MI + 3,), 0)])
def test_stack(shape, axis):
    values = [floats(*shape), -floats(*shape)]
    found = assert_same_bits(lambda *parts: tf.stack(parts, axis), *values)
    np.testing.assert_array_equal(found, np.stack(values, axis))


@pytest.mark.parametrize("dtype, count", [(np.float16, 17 * MI), (np.int64, 5 * MI)])
def test_add_n(dtype, count):
    values = [(np.arange(count + 5) % (7 + i)).astype(dtype) for i in range(3)]
    found = assert_same_bits(lambda *parts: tf.add_n(parts), *values)
    np.testing.assert_array_equal(found, values[0] + values[1] + values[2])


def test_sums_over_segments_that_are_far_from_each_other():
    x = floats(130, 129, 517)
    found = assert_same_bits(lambda value: tf.reduce_sum(value, (0, 2)), x)
    np.testing.assert_allclose(found, np.sum(x.astype(np.float64), (0, 2)), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("width", [3, 16, 40])
def test_many_updates_of_few_rows_apply_in_order(width):
    rows = np.random.RandomState(0).zipf(1.3, size=60000) % 1000
    updates = floats(60000, width)
    expected = np.zeros([1000, width], np.float32)
    np.add.at(expected, rows, updates)

    def build(where, what):
        return tf.scatter_nd(where[:, None], what, [1000, width])

    np.testing.assert_array_equal(assert_same_bits(build, rows, updates), expected)


@pytest.mark.parametrize("axis", [0, 1])
def test_extrema_pass_over_nan_and_reductions_take_odd_shapes(axis):
    x = floats(1037, 4177)
    x[3, 5] = np.nan
    reductions = tf.reduce_max, tf.reduce_min, tf.reduce_sum, tf.reduce_prod
    largest, least, total, _ = assert_same_bits(lambda value: [reduce(value, axis) for reduce in reductions], x)
    np.testing.assert_array_equal(largest, np.nanmax(x, axis))
    np.testing.assert_array_equal(least, np.nanmin(x, axis))
    np.testing.assert_allclose(total, np.sum(x.astype(np.float64), axis), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("width", [5, 33])
def test_columns_have_the_bits_that_few_rows_of_them_have(width):
    x = floats(9 * MI // width // 64 * 64, width)
    parts = x.reshape(64, -1, width)
    whole = evaluate(lambda value: tf.reduce_max(value, 0), x)
    np.testing.assert_array_equal(whole, x.max(0))
    apart = evaluate(lambda value: tf.reduce_sum(value, 1), parts)
    for i in (0, 40, 63):
        assert evaluate(lambda value: tf.reduce_sum(value, 0), parts[i]).tobytes() == apart[i].tobytes()
    assert_same_bits(lambda value: tf.reduce_sum(value, 0), x)


@pytest.mark.parametrize("width", [21, 2999])
def test_rows_have_the_bits_that_few_of_them_have(width):
    x = floats(9 * MI // width + 1, width)
    x[5, 3] = np.nan
    few = np.concatenate([x[:7], x[-7:]])
    for reduce in (tf.reduce_sum, tf.reduce_max, tf.reduce_mean):

        def build(value, reduce=reduce):
            return reduce(value, 1)

        found = assert_same_bits(build, x)
        assert np.concatenate([found[:7], found[-7:]]).tobytes() == evaluate(build, few).tobytes()


@pytest.mark.parametrize("width", [5, 128, 130])
def test_gather(width):
    table = floats(1000, width)
    indices = np.random.RandomState(1).randint(0, 1000, size=8 * MI // width + 77)

    def build(params, ids):
        return tf.gather(params, ids)

    np.testing.assert_array_equal(assert_same_bits(build, table, indices), table[indices])
    indices[-3] = 1000
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[\d+\] = 1000 is not in \[0, 1000\)"):
        evaluate(build, table, indices)


@pytest.mark.parametrize("op", [tf.nn.softmax, tf.nn.log_softmax])
@pytest.mark.parametrize(
    "shape",
    [(32771, 256), (838861, 10), (84, 100003), (32771, 130, "double")],
)
def test_softmax(op, shape):
    logits = floats(*shape[:2]).astype(shape[2] if len(shape) > 2 else np.float32)
    logits[997 % len(logits), 3:] = -np.inf
    logits[2 * 997 % len(logits), 5] = np.inf
    logits[3 * 997 % len(logits), 7] = np.nan
    rows = slice(0, len(logits), 997 if len(logits) > 997 else 5)
    result = assert_same_bits(op, logits)
    np.testing.assert_array_equal(result[rows], evaluate(op, np.ascontiguousarray(logits[rows])))

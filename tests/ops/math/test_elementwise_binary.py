"""Elementwise ops with two inputs: values, broadcasting, types, gradients, bad input."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import errors, ops
from stillflow.testing import assert_same_bits, check_gradient, evaluate, new_session

NUMPY = {
    "add_v2": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor_div": np.floor_divide,
    "floor_mod": np.mod,
    "squared_difference": lambda x, y: (x - y) * (x - y),
}
SHAPES = [
    ((), ()),
    ((3,), ()),
    ((), (2, 3)),
    ((4, 3), (3,)),
    ((4, 1), (1, 3)),
    ((2, 1, 3), (4, 1)),
    ((0, 3), (3,)),
    ((0, 1), (1, 3)),
    ((5, 700, 3), (700, 1)),
    ((3, 1), (3, 1)),
    ((90, 131), (90, 1)),
    ((90, 131), (131,)),
    ((9, 7, 131), (7, 1)),
    ((900, 37), (900, 1)),
    ((9001, 1), (9001, 2)),
]


def samples(rng, shape, dtype):
    values = rng.integers(1, 9, shape)
    return (values * rng.choice([-1, 1], shape)).astype(dtype)


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("name", NUMPY)
def test_values_and_broadcasting_match_numpy(name, shapes, rng):
    x, y = (samples(rng, shape, np.float32) for shape in shapes)
    result = evaluate(getattr(ops, name), x, y)
    np.testing.assert_array_equal(result, NUMPY[name](x, y))
    assert result.dtype == np.float32


@pytest.mark.parametrize("columns", [3, 131, 700])
def test_chained_operands_are_repeated_along_different_axes(columns, rng):
    shapes = (90, 7, columns), (90, 1, 1), (7, 1), (columns,), (90, 7, 1), (90, 1, columns)
    values = [samples(rng, shape, np.int32) for shape in shapes]

    def build(a, b, c, d, e, f):
        return (((a * b + c) * d) - e) * f

    np.testing.assert_array_equal(evaluate(build, *values), build(*values))
    assert_same_bits(build, *values)


@pytest.mark.parametrize("dtype", ["float64", "float16", "int64", "int32", "int16", "int8", "uint8"])
@pytest.mark.parametrize("name", ["add_v2", "sub", "mul"])
def test_every_type_of_arithmetic(name, dtype, rng):
    x, y = (samples(rng, (7, 5), "int64").astype(dtype) for _ in range(2))
    result = evaluate(getattr(ops, name), x, y)
    np.testing.assert_array_equal(result, NUMPY[name](x, y))
    assert result.dtype == dtype


def test_bfloat16_rounds_to_nearest_even():
    import ml_dtypes

    x = np.array([1.0, 3.1415927, 1e30], ml_dtypes.bfloat16)
    y = np.array([0.00390625, 2.7182817, 1e30], ml_dtypes.bfloat16)
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(evaluate(ops.mul, x, y), x * y)
        np.testing.assert_array_equal(evaluate(ops.add_v2, x, y), x + y)


# A NaN on the right is passed over, unlike numpy's.
_EXTREMA = {"maximum": lambda x, y: np.where(x < y, y, x), "minimum": lambda x, y: np.where(y < x, y, x)}


@pytest.mark.parametrize("name", ["add_v2", "sub", "mul", "div", "maximum", "minimum", "squared_difference"])
def test_halves_are_computed_as_floats_and_rounded_once(name, rng):
    """All of them, NaN and denormal ones too, with others and with single ones on either side."""
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    build = getattr(ops, name)
    function = _EXTREMA.get(name) or NUMPY.get(name, np.divide)
    for x, y in (
        (every, rng.permutation(every)),
        (every, np.float16(-3.7)),
        (np.float16(0.3), every),
        (every[:77], every[-77:]),
    ):
        with np.errstate(all="ignore"):
            expected = function(x.astype(np.float32), y.astype(np.float32)).astype(np.float16)
        np.testing.assert_array_equal(evaluate(build, x, y), expected)
        assert_same_bits(build, x, y)


COLUMN_CHAINS = {
    "between": lambda a, b, c: (a - b) * c,
    "of another column": lambda a, b, c: a * (b + c),
    "of a number": lambda a, b, c: (b * 3 - a) * c,
    "of one operand": lambda a, b, c: a * -b + c,
    "twice": lambda a, b, c: (a * b + c) * b,
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
@pytest.mark.parametrize("columns", [2, 5, 64, 1500])
@pytest.mark.parametrize("chain", COLUMN_CHAINS)
def test_chains_of_columns(chain, columns, dtype, rng):
    rows = 20000 // columns
    values = [samples(rng, shape, dtype) for shape in ((rows, columns), (rows, 1), (rows, 1))]
    build = COLUMN_CHAINS[chain]
    np.testing.assert_array_equal(evaluate(build, *values), build(*values))
    if dtype == "float32":
        assert_same_bits(build, *values)


@pytest.mark.parametrize("name", ["floor_div", "floor_mod", "truncate_div", "truncate_mod"])
def test_integer_division_by_zero_is_an_error(name):
    x, y = np.array([5, 1], np.int32), np.array([1, 0], np.int32)
    with pytest.raises(errors.InvalidArgumentError, match="Integer division by zero"):
        evaluate(getattr(ops, name), x, y)


def test_integers_wrap_and_the_smallest_divides_by_minus_one():
    low = np.array([-(2**31)], np.int32)
    minus_one = np.array([-1], np.int32)
    assert evaluate(ops.floor_div, low, minus_one) == low
    assert evaluate(ops.floor_mod, low, minus_one) == 0
    assert evaluate(ops.mul, np.array([65536], np.int32), np.array([65536], np.int32)) == 0


def test_float_division_follows_ieee():
    x = np.array([1, -1, 0, 1], np.float32)
    y = np.array([0, 0, 0, -0.0], np.float32)
    np.testing.assert_array_equal(evaluate(ops.real_div, x, y), [np.inf, -np.inf, np.nan, -np.inf])
    np.testing.assert_array_equal(evaluate(ops.div_no_nan, x, y), [0, 0, 0, 0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 5, 40])
def test_extrema_keep_a_nan_on_the_left_and_pass_over_one_on_the_right(dtype, size):
    x = np.resize([1, np.nan, 2, np.nan], size).astype(tf.as_dtype(dtype).as_numpy_dtype)
    y = np.resize([np.nan, 1, 3, np.nan], size).astype(x.dtype)
    for extremum, of_both in [(ops.maximum, 3), (ops.minimum, 2)]:
        expected = np.resize([1, np.nan, of_both, np.nan], size).astype(x.dtype)
        np.testing.assert_array_equal(evaluate(extremum, x, y).astype(np.float64), expected.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_extrema_of_special_numbers_have_the_same_bits_everywhere(dtype):
    """Processors' instructions make zeros of denormal numbers, comparisons do not."""
    denormal = np.finfo(dtype).tiny / 8
    numbers = np.array([0, -0.0, denormal, -denormal, 1, -1, np.inf, -np.inf, np.nan], dtype)
    x, y = (grid.ravel() for grid in np.meshgrid(numbers, numbers))
    for extremum, reduction in [(ops.maximum, ops.reduce_max), (ops.minimum, ops.reduce_min)]:
        for count in (len(x), 37, 5):
            assert_same_bits(extremum, x[-count:], y[-count:])
            assert_same_bits(extremum, x[-count:], y[-1])
        for axis in (0, 1):
            assert_same_bits(lambda t, axis=axis, reduce=reduction: reduce(t, axis), np.stack([x, y, x[::-1]] * 23))


@pytest.mark.parametrize("name", ["add_v2", "mul", "real_div", "floor_mod", "squared_difference", "maximum", "pow"])
def test_same_bits_everywhere(name, rng):
    x = rng.uniform(0.1, 3, (300, 70)).astype(np.float32)
    y = rng.uniform(0.1, 3, 70).astype(np.float32)
    assert_same_bits(getattr(ops, name), x, y)


@pytest.mark.parametrize("shapes", [((3, 4), (3, 4)), ((3, 4), (4,)), ((3, 1), (1, 4)), ((), (2,))])
@pytest.mark.parametrize(
    "name", ["add_v2", "sub", "mul", "real_div", "maximum", "minimum", "squared_difference", "pow"]
)
def test_gradient_matches_differences(name, shapes, rng):
    x, y = (rng.uniform(0.5, 2, shape) for shape in shapes)
    check_gradient(getattr(ops, name), x, y)


def test_known_shapes_that_do_not_fit_are_refused_while_building():
    x, y = ops.zeros([2, 3]), ops.zeros([4])
    with pytest.raises(ValueError, match=r"Dimensions must be equal, but are 3 and 4 for 'AddV2'.*\[2,3\], \[4\]"):
        ops.add_v2(x, y)


def test_shapes_that_do_not_fit_are_refused_when_running():
    x = ops.placeholder(dtype="float32")
    y = ops.placeholder(dtype="float32")
    total = ops.add_v2(x, y, name="total")
    with new_session() as session:
        session._graph = total.graph
        with pytest.raises(errors.InvalidArgumentError, match=r"Incompatible shapes: \[2\] vs. \[3\]\n.*node total"):
            session.run(total, {x: np.zeros(2), y: np.zeros(3)})


def test_mixed_types_are_refused():
    with pytest.raises(TypeError, match="type float32 that does not match type int32 of argument 'x'"):
        ops.add_v2(ops.zeros([2], "int32"), ops.zeros([2]))
    with pytest.raises(TypeError, match="DataType bool not in list of allowed values"):
        ops.add_v2(ops.constant(True), ops.constant(True))


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        ([0], [None], [None]),
        ([0], [0], [0]),
        ([2], [None], [2]),
        ([1], [None], [None]),
        ([0, 1], [None, 2], [None, 2]),
    ],
)
def test_an_unknown_size_beside_none_at_all_stays_unknown(x, y, expected):
    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, x), tf.placeholder(tf.float32, y)
        assert (a + b).shape.as_list() == (b * a).shape.as_list() == expected

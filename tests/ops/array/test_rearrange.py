"""Concat, Pack, Split, Tile, Transpose, Slice, StridedSlice, Pad and others that move elements: against numpy."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.testing import ISAS, assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]

# Name -> what is built from one array, and the same by numpy.
CASES = {
    "concat": (lambda x: ops.concat([x, x, x], 1), lambda x: np.concatenate([x, x, x], 1)),
    "stack": (lambda x: ops.stack([x, x], 1), lambda x: np.stack([x, x], 1)),
    "unstack": (lambda x: ops.unstack(x, axis=1)[0], lambda x: x[:, 0]),
    "split": (lambda x: ops.split(x, 2, 0)[1], lambda x: np.split(x, 2, 0)[1]),
    "split_v": (lambda x: ops.split(x, [1, -1], 1)[1], lambda x: x[:, 1:]),
    "tile": (lambda x: ops.tile(x, [2, 1, 3]), lambda x: np.tile(x, (2, 1, 3))),
    "transpose": (lambda x: ops.transpose(x, [2, 0, 1]), lambda x: x.transpose(2, 0, 1)),
    "slice": (lambda x: ops.slice(x, [1, 0, 1], [-1, 2, 1]), lambda x: x[1:, :2, 1:2]),
    "strided_slice": (lambda x: x[::2, ::-1, None, -1], lambda x: x[::2, ::-1, None, -1]),
    "ellipsis": (lambda x: x[..., 1:], lambda x: x[..., 1:]),
    "reshape": (lambda x: ops.reshape(x, [-1, 2]), lambda x: x.reshape(-1, 2)),
    "expand_dims": (lambda x: ops.expand_dims(x, -1), lambda x: x[..., None]),
    "squeeze": (lambda x: ops.squeeze(x[:1], [0]), lambda x: x[0]),
    "broadcast_to": (lambda x: ops.broadcast_to(x, [2, 4, 3, 2]), lambda x: np.broadcast_to(x, (2, 4, 3, 2))),
    "identity": (ops.identity, lambda x: x),
}
NUMBERS_ONLY = {
    "pad": (lambda x: ops.pad(x, [[1, 2], [0, 0], [0, 1]]), lambda x: np.pad(x, [(1, 2), (0, 0), (0, 1)])),
    "reflect": (
        lambda x: ops.pad(x, [[1, 2], [0, 1], [0, 0]], "REFLECT"),
        lambda x: np.pad(x, [(1, 2), (0, 1), (0, 0)], "reflect"),
    ),
    "symmetric": (
        lambda x: ops.pad(x, [[1, 2], [3, 1], [2, 0]], "SYMMETRIC"),
        lambda x: np.pad(x, [(1, 2), (3, 1), (2, 0)], "symmetric"),
    ),
}
ALL = {**CASES, **NUMBERS_ONLY}


@pytest.mark.parametrize("name", ALL)
def test_elements_move_as_numpys_do(name, rng):
    build, expected = ALL[name]
    arrays = [rng.integers(0, 100, (4, 3, 2)).astype(dtype) for dtype in DTYPES]
    results = evaluate(lambda *given: [build(x) for x in given], *arrays)
    for array, result in zip(arrays, results, strict=True):
        np.testing.assert_array_equal(result, expected(array), strict=True)


@pytest.mark.parametrize("name", ["concat", "stack", "tile", "transpose", "reshape", "expand_dims", "identity"])
def test_empty_arrays(name):
    build, expected = ALL[name]
    x = np.zeros((0, 3, 2), np.float32)
    result = evaluate(build, x)
    assert result.shape == expected(x).shape


@pytest.mark.parametrize("name", ALL)
def test_gradients_match_differences(name, rng):
    check_gradient(ALL[name][0], rng.standard_normal((4, 3, 2)))


@pytest.mark.parametrize("name", ALL)
def test_same_bits_everywhere(name, rng):
    assert_same_bits(ALL[name][0], rng.standard_normal((4, 3, 2)).astype(np.float32))


@pytest.mark.parametrize("size", [1, 63, 64, 65, 500])
def test_transposes_of_any_size(size, rng):
    for dtype in ("uint8", "float16", "float32", "float64"):
        x = rng.integers(0, 200, (size, 77)).astype(dtype)
        np.testing.assert_array_equal(evaluate(ops.transpose, x), x.T)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("columns", [2, 3, 4, 5, 7, 8, 9, 10, 15, 16, 17, 31, 33])
def test_few_columns_come_apart_on_every_instruction_set(columns, dtype, rng):
    for rows in (2, 3, 15, 16, 17, 63, 64, 67, 130, 1500):
        x = rng.integers(0, 120, (2, rows, columns)).astype(dtype)
        for isa_name in ISAS:
            result = evaluate(lambda x: ops.transpose(x, [0, 2, 1]), x, isa_name=isa_name)
            np.testing.assert_array_equal(result, x.transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("distance", [2, 3, 4, 5, 9])
def test_every_second_or_later_element(distance, dtype, rng):
    for width in (1, 2, 7, 64, 129, 1000):
        x = rng.integers(0, 120, (3, width)).astype(dtype)
        part = np.s_[::2, width // 5 :: distance]
        for isa_name in ISAS:
            result = evaluate(lambda x, part=part: x[part], x, isa_name=isa_name)
            np.testing.assert_array_equal(result, x[part])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [1, 2, 3, 5, 7, 8, 11, 16, 17, 31, 32, 33])
def test_short_runs_apart_from_each_other(width, dtype, rng):
    x = rng.integers(0, 120, (3, 70, width + 2)).astype(dtype)
    for part in (np.s_[:, :, 1:-1], np.s_[1:, 1:, 2:], np.s_[:, ::3, :width], np.s_[::2, 60:, 1 : 1 + width]):
        for isa_name in ISAS:
            result = evaluate(lambda x, part=part: x[part], x, isa_name=isa_name)
            np.testing.assert_array_equal(result, x[part])
    long = rng.integers(0, 120, (40001, width + 1)).astype(dtype)  # several chunks
    for threads in (1, 3):
        np.testing.assert_array_equal(evaluate(lambda x: x[:, 1:], long, threads=threads), long[:, 1:])


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [1, 2, 3, 4, 7, 8, 9, 16, 31, 33])
def test_short_lines_are_repeated(width, dtype, rng):
    x = rng.integers(0, 120, (37, 1, width)).astype(dtype)
    for multiples in ((1, 2, 1), (2, 3, 1), (1, 17, 1), (1, 1, 2), (1, 2, 3)):
        for isa_name in ISAS:
            result = evaluate(lambda x, multiples=multiples: ops.tile(x, multiples), x, isa_name=isa_name)
            np.testing.assert_array_equal(result, np.tile(x, multiples))
    column = rng.integers(0, 120, (20001, 1)).astype(dtype)  # several chunks
    for threads in (1, 3):
        repeated = evaluate(lambda x: ops.tile(x, [1, width]), column, threads=threads)
        np.testing.assert_array_equal(repeated, np.tile(column, (1, width)))


def test_misfits_are_named():
    x = np.zeros((2, 3), np.float32)
    unknown = [ops.placeholder(dtype="float32") for _ in range(2)]
    with pytest.raises(ValueError, match="must be equal"):
        ops.concat([x, np.zeros((2, 4), np.float32)], 0)
    with pytest.raises(ValueError, match="evenly divisible by 2 but is 3"):
        ops.split(x, 2, 1)
    with pytest.raises(ValueError, match="Cannot reshape a tensor with 6 elements"):
        ops.reshape(x, [4])
    from stillflow.session.session import Session

    with Session(graph=unknown[0].graph) as session:
        for build, message in (
            (lambda a, b: ops.concat([a, b], 0), "Dimensions of inputs should match"),
            (lambda a, b: ops.stack([a, b]), "Shapes of all inputs must match"),
            (lambda a, b: ops.slice(a, [0, 1], [2, 3]), r"Expected size\[1\] in \[0, 2\], but got 3"),
            (lambda a, b: ops.reshape(a, [4, -1]), "has 6 values, but the requested shape requires a multiple of 4"),
        ):
            with pytest.raises(errors.InvalidArgumentError, match=message):
                session.run(build(*unknown), {unknown[0]: x, unknown[1]: np.zeros((2, 4))})


@pytest.mark.parametrize("dtype", ["int64", "float32", "float16", "bool", "complex128"])
@pytest.mark.parametrize("values", [2, 3, 5, 300])
def test_stacks_of_short_runs(values, dtype, rng):
    shapes = [(0,), (2,), (31,), (33,), (70, 1), (9, 2), (5, 4), (3, 3), (40, 0)]
    for shape in shapes + [(40001,), (300, 257)] * (values <= 3):
        arrays = [rng.integers(0, 2, shape).astype(dtype) for _ in range(values)]
        for axis in {-1, 1}:
            result = evaluate(lambda *x, axis=axis: ops.stack(x, axis), *arrays)
            np.testing.assert_array_equal(result, np.stack(arrays, axis))


def test_stacks_of_parts_of_arrays_and_of_strings(rng):
    x = rng.integers(0, 9, (9, 501), np.uint8)
    result = evaluate(lambda x: ops.stack([x[1], x[2]], -1), x)
    np.testing.assert_array_equal(result, np.stack([x[1], x[2]], -1))
    result = evaluate(lambda x: ops.stack([ops.reshape(x[1:, 1], [4, 2]), ops.reshape(x[:-1, 0], [4, 2])], 1), x)
    np.testing.assert_array_equal(result, np.stack([x[1:, 1].reshape(4, 2), x[:-1, 0].reshape(4, 2)], 1))
    text = np.array([b"one", b"a longer text than a cell holds" * 3, b""], object)
    assert evaluate(lambda t: ops.stack([t, t, t[::-1]], -1), text).tolist() == [
        [a, a, b] for a, b in zip(text, text[::-1], strict=True)
    ]


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("widths", [(1, 1), (2, 2), (1, 1, 1), (1, 1, 1, 1), (3, 5), (0, 4, 7), (33, 1), (9, 40)])
def test_parts_of_rows(widths, dtype, rng):
    parts = [rng.integers(0, 100, (701, width)).astype(dtype) for width in widths]

    def build(*values):
        return ops.concat(values, 1)

    np.testing.assert_array_equal(evaluate(build, *parts), np.concatenate(parts, 1))
    assert_same_bits(build, *parts)


def test_parts_of_rows_of_strings():
    left, right = np.array([[b"a"], [b"bc"]], object), np.array([[b"", b"d"], [b"e", b"fgh"]], object)
    joined = evaluate(lambda a, b: ops.concat([a, b], 1), left, right)
    np.testing.assert_array_equal(joined, np.concatenate([left, right], 1))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
@pytest.mark.parametrize("width", [2, 3, 4, 5, 7, 9, 16, 17])
def test_short_lines(width, dtype, rng):
    """Along dimensions of any length before the last one."""
    x = rng.integers(0, 100, (19, 6, width)).astype(dtype)
    cases = [
        (lambda t: t[:, :, 1:], x[:, :, 1:]),
        (lambda t: t[:, 1:5, 1:], x[:, 1:5, 1:]),
        (lambda t: ops.reverse_v2(t, [2]), x[:, :, ::-1]),
        (lambda t: ops.transpose(t, [1, 0, 2]), x.transpose(1, 0, 2)),
        (lambda t: ops.tile(t, [1, 1, 2]), np.tile(x, (1, 1, 2))),
        (lambda t: ops.tile(t, [1, 3, 1]), np.tile(x, (1, 3, 1))),
        (lambda t: ops.pad(t, [[1, 0], [0, 2], [1, 1]]), np.pad(x, [(1, 0), (0, 2), (1, 1)])),
    ]
    for build, expected in cases:
        np.testing.assert_array_equal(evaluate(build, x), expected)
        assert_same_bits(build, x)


@pytest.mark.parametrize("values", [2, 3])
def test_stacks_have_the_same_bits_everywhere(values, rng):
    x = rng.standard_normal((values, 300, 257)).astype(np.float32)
    assert_same_bits(lambda *x: ops.stack(x, -1), *x)


@pytest.mark.parametrize("arguments", [{}, {"constant_values": 7}, {"mode": "REFLECT"}])
def test_sizes_after_padding_that_are_known(arguments, new_graph):
    x = ops.placeholder(dtype="float32", shape=[None, 3])
    size = ops.placeholder(dtype="int32", shape=[])
    assert ops.pad(x, [[1, 1], [2, 0]], **arguments).shape.as_list() == [None, 5]
    assert ops.pad(x, [[1, size], [0, 1]], **arguments).shape.as_list() == [None, 4]
    assert ops.pad(x, [[0, 1], [0, size]], **arguments).shape.as_list() == [None, None]
    unknown = ops.pad(ops.placeholder(dtype="float32"), [[0, size], [0, 1]], **arguments)
    assert unknown.shape.as_list() == [None, None]

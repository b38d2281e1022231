"""DynamicStitch and DynamicPartition: values, types, gradients, bad input."""

import numpy as np
import pytest

from stillflow import errors, ops
from stillflow.session.session import Session
from stillflow.testing import assert_same_bits, check_gradient, evaluate

DTYPES = ["float32", "float64", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"]


def stitch(*arrays):
    half = len(arrays) // 2
    return ops.dynamic_stitch(list(arrays[:half]), list(arrays[half:]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("row", [(), (3,), (2, 5), (0,)])
def test_stitched_rows_lie_at_their_indices(dtype, row, rng):
    order = rng.permutation(50).astype(np.int32)
    data = rng.integers(0, 2, (50, *row)).astype(dtype)
    result = evaluate(stitch, order[:20], order[20:].reshape(6, 5), data[:20], data[20:].reshape(6, 5, *row))
    np.testing.assert_array_equal(result[order], data)
    assert result.dtype == dtype


def test_of_several_rows_the_last_one_counts_and_gaps_are_zero():
    a, b = np.array([1, 1], np.int32), np.array([4, 1], np.int32)
    result = evaluate(stitch, a, b, np.array([1.0, 2.0]), np.array([3.0, 5.0]))
    np.testing.assert_array_equal(result, [0, 5, 0, 0, 3])


def test_strings_are_stitched():
    index = np.array([1, 0], np.int32)
    result = evaluate(lambda x: ops.dynamic_stitch([x, [1]], [["b", "a"], ["c"]]), index)
    assert result.tolist() == [b"a", b"c"]


def test_nothing_is_stitched_to_nothing():
    assert evaluate(stitch, np.zeros(0, np.int32), np.zeros((0, 3), np.float32)).shape == (0, 3)


def test_a_negative_index_is_refused():
    with pytest.raises(errors.InvalidArgumentError, match=r"indices\[1\] is out of range"):
        evaluate(stitch, np.array([0, -1], np.int32), np.zeros(2, np.float32))


def test_data_must_begin_with_the_shape_of_its_indices():
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        ops.dynamic_stitch([[0, 1]], [np.zeros([3, 2])])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40,), (8, 5)])
def test_partitions_hold_their_rows_in_order(dtype, shape, rng):
    parts = rng.integers(0, 3, shape).astype(np.int32)
    data = rng.integers(0, 2, (*shape, 3)).astype(dtype)
    result = evaluate(lambda d, p: ops.dynamic_partition(d, p, 4), data, parts)
    for k in range(4):
        np.testing.assert_array_equal(result[k], data[parts == k])
        assert result[k].dtype == dtype


@pytest.mark.parametrize("bad", [-1, 2])
def test_a_partition_that_is_not_there_is_named(bad):
    with pytest.raises(errors.InvalidArgumentError, match=rf"partitions\[1\] = {bad} is not in \[0, 2\)"):
        evaluate(lambda p: ops.dynamic_partition([1.0, 2.0], p, 2), np.array([0, bad], np.int32))


def test_gradients_match_differences(rng):
    index, other = np.array([3, 0, 1], np.int32), np.array([2, 4], np.int32)
    check_gradient(stitch, index, other, rng.standard_normal((3, 2)), rng.standard_normal((2, 2)))
    parts = np.array([1, 0, 1, 0, 0], np.int32)
    check_gradient(lambda d: ops.concat(ops.dynamic_partition(d, parts, 2), 0), rng.standard_normal((5, 2)))


def test_same_bits_everywhere(rng):
    order = rng.permutation(3000).astype(np.int32)
    assert_same_bits(stitch, order, rng.standard_normal((3000, 33)).astype(np.float32))


def test_gaps_in_text_are_empty(new_graph):
    words = ops.dynamic_stitch([[0], [2]], [["a"], ["b"]])
    padded = ops.pad(["a", "b"], [[1, 1]]), ops.pad(["a"], [[0, 2]], constant_values="c")
    with Session(graph=new_graph) as session:
        assert session.run(words).tolist() == [b"a", b"", b"b"]
        assert [value.tolist() for value in session.run(padded)] == [[b"", b"a", b"b", b""], [b"a", b"c", b"c"]]

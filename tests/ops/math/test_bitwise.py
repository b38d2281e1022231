"""Ops on bits: values of all integer types, shifts by any count, bad input."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits
from stillflow.testing import evaluate as evaluate_built


@pytest.mark.parametrize(("case", "expected"), cases("bitwise"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_bits_are_counted(dtype):
    info = np.iinfo(dtype)
    x = np.array([0, 1, 7, info.max, info.min], dtype)
    bits = 2**info.bits - 1
    result = evaluate_built(ops.population_count, x)
    assert result.dtype == np.uint8
    assert result.tolist() == [bin(int(value) & bits).count("1") for value in x]


def test_same_bits_everywhere(rng):
    x, y = rng.integers(-(2**31), 2**31, (2, 40001)).astype(np.int32)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
        assert_same_bits(getattr(ops, name), x, y)


def test_there_is_no_gradient():
    x = tf.constant([1, 2])
    assert tf.gradients(tf.bitwise.invert(x), x) == [None]

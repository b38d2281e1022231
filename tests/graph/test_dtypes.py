"""DType: names, numpy types, limits."""

import copy
import pickle

import numpy as np
import pytest

import stillflow as tf


def test_types_are_found_by_what_stands_for_them():
    for value in ("float32", "float", np.float32, np.dtype("<f4"), np.dtype(">f4"), float, 1):
        assert tf.as_dtype(value) is tf.float32
    assert tf.as_dtype(int) is tf.int64 and tf.as_dtype(bool) is tf.bool and tf.as_dtype("S3") is tf.string
    assert tf.as_dtype("half") is tf.float16 and tf.as_dtype(101) is tf.float32._as_ref
    for wrong in ("foo", 99, None, True):
        with pytest.raises(TypeError):
            tf.as_dtype(wrong)


def test_properties():
    assert tf.float32.is_floating and tf.int8.is_integer and not tf.qint8.is_integer and tf.uint8.is_unsigned
    assert tf.int32.max == 2**31 - 1 and tf.uint8.limits == (0, 255) and tf.bool.max is True
    assert tf.float32._as_ref.base_dtype is tf.float32 and tf.float32._as_ref.name == "float32_ref"
    assert tf.float32.is_compatible_with(tf.float32._as_ref) and not tf.float32._as_ref.is_compatible_with(tf.float32)
    assert tf.string.as_numpy_dtype is np.object_ and tf.bfloat16.size == 2
    with pytest.raises(TypeError, match="Cannot find minimum value"):
        tf.string.min  # noqa: B018


def test_equality_and_copies():
    assert tf.float32 == np.float32 and tf.float32 != tf.float64 and tf.float32 != 5.5 and tf.int32 != "x"
    assert pickle.loads(pickle.dumps(tf.int64)) is tf.int64 and copy.deepcopy(tf.int64) is tf.int64
    assert repr(tf.float32) == "tf.float32" and str(tf.bool) == "<dtype: 'bool'>"


def test_numbers_of_types():
    for number in (*range(1, 24), *range(101, 124)):
        assert tf.DType(number) is tf.as_dtype(number)
        assert tf.DType(number).as_datatype_enum == number
    for number in (0, 24, 100, 124):
        with pytest.raises(TypeError, match="not a valid"):
            tf.DType(number)

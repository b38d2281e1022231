"""What values become when they are fed."""

import numpy as np
import pytest

import stillflow as tf

NAN, INF = float("nan"), float("inf")


def fed(dtype, value):
    placeholder = tf.placeholder(dtype)
    doubled = tf.identity(placeholder)
    with tf.Session() as session:
        result = session.run(doubled, {placeholder: value})
        called = session.make_callable(doubled, [placeholder])(value)
    np.testing.assert_array_equal(called, result)
    return result


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint8])
@pytest.mark.parametrize(
    ("value", "error"),
    [(NAN, ValueError), (INF, OverflowError), (-INF, OverflowError), (1e20, OverflowError), (np.nan, ValueError)],
)
def test_python_numbers_without_an_integer_are_refused(dtype, value, error):
    for given in (value, [value], [1, value], [[2.0, value]]):
        with pytest.raises(error):
            fed(dtype, given)


def test_other_floats_are_cut():
    assert fed(tf.int32, 1.9) == 1
    assert fed(tf.int32, [-1.9, 2, True]).tolist() == [-1, 2, 1]
    assert fed(tf.int32, np.float32(-1.5)) == -1
    assert fed(tf.uint64, [2.0**63]).tolist() == [2**63]
    assert fed(tf.bool, [NAN, 0.0]).tolist() == [True, False]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float16, tf.int32])
def test_complex_numbers_of_python_are_no_real_ones(dtype):
    for value in (1j, [1j], [1.0, 0j]):
        with pytest.raises(TypeError, match="can't convert complex to"):
            fed(dtype, value)
    assert fed(dtype, np.array([1 + 2j])).tolist() == [1]  # as numpy casts arrays
    assert fed(tf.complex64, [1j]).tolist() == [1j]


@pytest.mark.parametrize("value", [np.bytes_(b"ab"), np.array([b"ab"])[0], "ab", np.str_("ab"), b"ab"])
def test_text_of_numpy(value):
    assert fed(tf.string, value) == b"ab"
    assert fed(tf.string, [value, "c"]).tolist() == [b"ab", b"c"]
    with tf.Session() as session:
        assert session.run(tf.constant([value])).tolist() == [b"ab"]
        assert session.run(tf.constant(value)) == b"ab"
        assert session.run(tf.py_func(lambda: value, [], tf.string)) == b"ab"
        found = tf.data.Dataset.from_generator(lambda: iter([value]), tf.string).make_one_shot_iterator().get_next()
        assert session.run(found) == b"ab"


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (tf.float32, 2**24 + 1),
        (tf.float32, 2**200),
        (tf.float32, -(2**63) - 1),
        (tf.float16, 2049),
        (tf.float16, 10**6),
    ],
)
def test_ints_that_a_real_type_cannot_hold_are_refused(dtype, value):
    with pytest.raises(TypeError, match="is not compatible with Tensor type"):
        fed(dtype, value)


@pytest.mark.parametrize(
    ("dtype", "value"),
    [(tf.float32, 2**24), (tf.float32, 2**63), (tf.float64, 2**53 + 1), (tf.float64, 2**200), (tf.bfloat16, 2049)],
)
def test_other_ints_become_real_numbers(dtype, value):
    assert float(fed(dtype, value)) == pytest.approx(value, rel=1e-2)


def test_lists_and_arrays_of_ints_are_rounded():
    assert fed(tf.float32, [2**24 + 1]).tolist() == [2**24]
    assert fed(tf.float32, np.int64(2**24 + 1)) == 2**24


def test_none_is_what_numpy_makes_of_it():
    """As in TensorFlow 1.15: false, or no number; integers have none."""
    assert fed(tf.bool, None) == np.False_
    assert np.isnan(fed(tf.float32, None)) and np.isnan(fed(tf.complex64, None))
    with pytest.raises(TypeError, match="None cannot be fed to a tensor of type int32"):
        fed(tf.int32, None)

"""DecodeWav and EncodeWav: TensorFlow's values and errors, and the same bits."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow.testing import assert_same_bits


@pytest.mark.parametrize(("case", "expected"), cases("sounds"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected, rtol=0, atol=0)


def test_shapes_are_known_as_far_as_they_are_wanted():
    audio, rate = tf.audio.decode_wav(tf.placeholder(tf.string, []), desired_samples=16000)
    assert audio.shape.as_list() == [16000, None]
    assert rate.shape == ()


def test_what_is_written_is_read_back_with_the_same_bits(rng):
    x = rng.uniform(-1.5, 1.5, size=(300, 2)).astype(np.float32)
    assert_same_bits(lambda x: tf.audio.decode_wav(tf.audio.encode_wav(x, 16000)).audio, x)

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits


@pytest.mark.parametrize("interpolation", ["NEAREST", "BILINEAR"])
def test_any_number_of_threads_makes_the_same_bits(interpolation):
    images = np.random.RandomState(0).rand(3, 70, 90, 3).astype(np.float32)
    assert_same_bits(lambda x: tf.contrib.image.rotate(x, [0.3, 1.0, -2.0], interpolation), images)


def test_turning_there_and_back_is_nothing():
    image = np.arange(49.0).reshape(7, 7)
    with tf.Session() as sess:
        turned = tf.contrib.image.rotate(image, np.pi / 2)
        back = tf.contrib.image.rotate(turned, -np.pi / 2)
        turned, back = sess.run([turned, back])
    np.testing.assert_array_equal(turned, np.rot90(image))
    np.testing.assert_array_equal(back, image)


def test_places_that_are_no_numbers_are_outside():
    transforms = np.full([1, 8], np.nan, np.float32)
    huge = [[1e30, 0, 1e30, 0, 1e30, np.inf, 0, 0]]
    with tf.Session() as sess:
        for transform in (transforms, np.float32(huge)):
            for interpolation in ("NEAREST", "BILINEAR"):
                result = tf.contrib.image.transform(tf.ones([1, 3, 3, 1]), transform, interpolation)
                np.testing.assert_array_equal(sess.run(result), np.zeros([1, 3, 3, 1]))


def test_wide_integers_stay_in_their_type():
    most = np.iinfo(np.int64).max
    moved = tf.contrib.image.translate(tf.fill([3, 3], np.int64(most)), [0.5, 0.0], "BILINEAR")
    with tf.Session() as sess:
        assert sess.run(moved)[1, 1] == most


@pytest.mark.parametrize(
    ("shape", "transform", "size", "message"),
    [
        ([2, 3, 3, 1], [3, 8], [2, 2], "Input transform should be num_images x 8 or 1 x 8"),
        ([2, 3, 3, 1], [1, 7], [2, 2], "Input transform should be num_images x 8 or 1 x 8"),
        ([2, 3, 3, 1], [1, 8], [0, 2], "output dimensions must be positive"),
    ],
)
def test_refusals_of_the_kernel(shape, transform, size, message):
    size = tf.placeholder_with_default(size, [None])
    result = tf.contrib.image.transform(tf.zeros(shape), tf.zeros(transform), output_shape=size)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(result)


def test_refusals_of_functions():
    image = tf.contrib.image
    with pytest.raises(TypeError, match="Images should have rank between 2 and 4"):
        image.rotate(tf.zeros([3]), 0.1)
    with pytest.raises(TypeError, match="Invalid dtype"):
        image.rotate(tf.zeros([3, 3], tf.bool), 0.1)
    with pytest.raises(TypeError, match="Angles should have rank 0 or 1"):
        image.rotate(tf.zeros([3, 3]), [[0.1]])
    with pytest.raises(ValueError, match="Transforms should be 1D or 2D"):
        image.compose_transforms(tf.zeros([1, 1, 8]))
    result = image.rotate(tf.zeros([3, 3]), 0.1, "CUBIC")
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Invalid interpolation CUBIC"):
        sess.run(result)


def test_splines_need_known_sizes():
    points = tf.placeholder(tf.float32, [1, 4, None])
    with pytest.raises(ValueError, match=r"input points \(d\) must be statically-inferrable"):
        tf.contrib.image.interpolate_spline(points, tf.zeros([1, 4, 1]), tf.zeros([1, 2, 2]), 1)

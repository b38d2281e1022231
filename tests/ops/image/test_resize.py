"""ResizeBilinear and its kin: TensorFlow's values and errors, the same bits, gradients, damaged arguments."""

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits, check_gradient, new_session, of_unknown_shape

METHODS = [tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic]


@pytest.mark.parametrize(("case", "expected"), cases("image_sizes"))
def test_values_and_errors_are_those_of_tensorflow(case, expected):
    assert_same(evaluate(case), expected, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("method", [*METHODS, tf.image.resize_area])
def test_same_bits_everywhere(method, rng):
    x = rng.normal(size=(3, 21, 34, 5)).astype(np.float32)
    assert_same_bits(lambda x: method(x, [40, 19]), x)


@pytest.mark.parametrize("method", METHODS)
def test_gradients_give_the_same_bits_everywhere(method, rng):
    x = rng.normal(size=(3, 9, 14, 5)).astype(np.float32)
    assert_same_bits(lambda x: tf.gradients(method(x, [20, 9]) ** 2, x)[0], x)


@pytest.mark.parametrize("options", [{}, {"align_corners": True}, {"half_pixel_centers": True}])
@pytest.mark.parametrize("method", METHODS)
def test_gradients(method, options, rng):
    x = rng.normal(size=(1, 3, 4, 2))
    for size in ([5, 3], [2, 7]):
        # The results are float32, whose steps are coarse.
        check_gradient(
            lambda x, size=size: tf.cast(method(x, size, **options), tf.float64), x, step=1e-2, tolerance=5e-3
        )


def test_both_ways_to_place_pixels_exclude_each_other():
    with new_session() as session:
        for method in METHODS:
            resized = method(tf.zeros([1, 2, 2, 1]), [3, 3], align_corners=True, half_pixel_centers=True)
            with pytest.raises(tf.errors.InvalidArgumentError, match="align_corners must be False"):
                session.run(resized)


def test_gradients_that_do_not_fit_are_refused():
    with new_session() as session:
        grads = of_unknown_shape(tf.zeros([2, 3, 3, 1]))
        for gradient in (
            ops.resize_bilinear_grad(grads, of_unknown_shape(tf.zeros([1, 2, 2, 1]))),
            ops.resize_bicubic_grad(grads, of_unknown_shape(tf.zeros([2, 2, 2, 3]))),
            ops.resize_bilinear_grad(grads, of_unknown_shape(tf.zeros([2, 2, 2]))),
            ops.resize_nearest_neighbor_grad(grads, of_unknown_shape(tf.constant([0, 1]))),
            ops.resize_nearest_neighbor_grad(grads, of_unknown_shape(tf.constant([1]))),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(gradient)
        empty = ops.resize_bilinear_grad(grads, of_unknown_shape(tf.zeros([2, 0, 2, 1])))
        assert session.run(empty).shape == (2, 0, 2, 1)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.image.resize_images(tf.placeholder(tf.float32), [2, 2]), "no shape"),
        (lambda: tf.image.resize_images(tf.zeros([2, 2]), [2, 2]), "3 or 4"),
        (lambda: tf.image.resize_images(tf.zeros([2, 2, 1]), ["a"]), "int32"),
        (lambda: tf.image.resize_images(tf.zeros([2, 2, 1]), [1, 2, 3]), "2 elements"),
        (lambda: tf.image.resize_images(tf.zeros([2, 2, 1]), [3, 3], 9), "not implemented"),
        (lambda: tf.image.resize_image_with_pad(tf.zeros([2, 2, 1]), 0, 3), "target_height"),
    ],
)
def test_bad_arguments_are_refused(build, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build()


def test_methods_of_tensorflow_2_by_name(rng):
    x, methods = rng.normal(size=(1, 5, 6, 2)).astype(np.float32), tf.compat.v2.image.ResizeMethod
    resize = tf.compat.v2.image.resize
    with tf.Graph().as_default(), tf.Session() as session:
        by_member, by_name = session.run([resize(x, [3, 4], each) for each in (methods.LANCZOS3, "lanczos3")])
    np.testing.assert_array_equal(by_member, by_name)


def test_glimpses_of_tensorflow_2_have_noise_by_name(new_graph):
    image = tf.ones([1, 2, 2, 1])
    glimpse = tf.compat.v2.image.extract_glimpse(
        image, [2, 2], [[2, 2]], centered=False, normalized=False, noise="zero"
    )
    with tf.Session() as session:
        assert session.run(glimpse)[0, :, :, 0].tolist() == [[1, 0], [0, 0]]

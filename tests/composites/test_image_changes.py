"""Images flipped, cropped, padded and decoded: bad arguments, files of every format. Snippets have values."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import evaluate, new_session

IMAGE = np.arange(24, dtype=np.float32).reshape(2, 4, 3)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.image.flip_left_right([[1.0]]), "at least three-dimensional"),
        (lambda: tf.image.flip_up_down(np.zeros([1, 1, 1, 1, 1])), "3 or 4"),
        (lambda: tf.image.flip_up_down(np.zeros([1, 0, 1])), "> 0"),
        (lambda: tf.image.random_flip_left_right(np.zeros([1, 1, 1, 1, 1])), "3 or 4"),
        (lambda: tf.image.rot90(IMAGE, [1]), "rank 0"),
        (lambda: tf.image.central_crop(IMAGE, 0.0), "within"),
        (lambda: tf.image.central_crop(IMAGE, 1.5), "within"),
        (lambda: tf.image.crop_to_bounding_box(IMAGE, 0, 0, 3, 1), "height must be >="),
        (lambda: tf.image.crop_to_bounding_box(IMAGE, -1, 0, 1, 1), "offset_height"),
        (lambda: tf.image.crop_to_bounding_box(IMAGE, 0, 0, 0, 1), "target_height"),
        (lambda: tf.image.pad_to_bounding_box(IMAGE, 0, 0, 1, 9), "height must be <="),
        (lambda: tf.image.pad_to_bounding_box(IMAGE, 0, -1, 9, 9), "offset_width"),
        (lambda: tf.image.resize_image_with_crop_or_pad(IMAGE, 0, 1), "target_height"),
        (lambda: tf.image.random_brightness(IMAGE, -1.0), "non-negative"),
        (lambda: tf.image.random_contrast(IMAGE, 2.0, 1.0), "upper"),
        (lambda: tf.image.random_saturation(IMAGE, -1.0, 1.0), "lower"),
        (lambda: tf.image.random_hue(IMAGE, 0.6), "<= 0.5"),
        (lambda: tf.image.adjust_gamma(IMAGE, -1), "Gamma"),
        (lambda: tf.image.grayscale_to_rgb(IMAGE), "size 1"),
        (lambda: tf.image.total_variation(tf.zeros([2, 2])), "3 or 4"),
        (lambda: tf.image.image_gradients(tf.constant(IMAGE)), "4D"),
        (lambda: tf.image.psnr(tf.zeros([2, 2, 3]), tf.zeros([2, 3, 3]), 1.0), "must be equal|not compatible"),
        (lambda: tf.image.decode_image("", channels=2), "channels"),
        (lambda: tf.image.random_jpeg_quality(IMAGE, 90, 80), "less than"),
        (lambda: tf.image.random_jpeg_quality(IMAGE, 90, 101), "between 0 and 100"),
    ],
)
def test_bad_arguments_are_refused(build, message):
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        build()


def test_sizes_that_come_late_are_checked_late():
    with new_session() as session:
        x = tf.placeholder_with_default(IMAGE, [None, None, 3])
        for tensor in (
            tf.image.crop_to_bounding_box(x, 1, 1, 2, 2),
            tf.image.pad_to_bounding_box(x, 0, 0, 1, 1),
            tf.image.adjust_gamma(IMAGE, tf.constant(-1.0)),
            tf.image.grayscale_to_rgb(tf.placeholder_with_default(IMAGE, None)),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(tensor)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float64, np.float16])
def test_every_type_is_flipped_and_cropped(dtype):
    image = IMAGE.astype(dtype)
    found = evaluate(lambda x: tf.image.rot90(tf.image.flip_left_right(x)), image)
    np.testing.assert_array_equal(found, np.rot90(image[:, ::-1]))
    found = evaluate(lambda x: tf.image.resize_image_with_crop_or_pad(x, 4, 2), image)
    np.testing.assert_array_equal(found, np.pad(image[:, 1:3], [(1, 1), (0, 0), (0, 0)]))


def files():
    pillow = pytest.importorskip("PIL.Image")
    import io

    picture = pillow.fromarray(np.full([3, 5, 3], (200, 100, 50), np.uint8))
    for name in ("PNG", "JPEG", "GIF", "BMP"):
        buffer = io.BytesIO()
        picture.save(buffer, name)
        yield name, buffer.getvalue()


def test_files_of_every_format_are_decoded():
    with new_session() as session:
        contents = tf.placeholder(tf.string, [])
        decoded = tf.image.decode_image(contents, channels=3)
        as_floats = tf.image.decode_image(contents, dtype=tf.float32, expand_animations=False)
        gray = tf.image.decode_image(contents, channels=1)
        for name, data in files():
            pixels, floats = session.run([decoded, as_floats], {contents: data})
            assert pixels.shape == ((1, 3, 5, 3) if name == "GIF" else (3, 5, 3))
            assert np.abs(pixels.astype(int) - (200, 100, 50)).max() <= 4
            assert floats.shape == (3, 5, 3) and np.abs(floats * 255 - (200, 100, 50)).max() <= 4
            if name in ("GIF", "BMP"):
                with pytest.raises(tf.errors.InvalidArgumentError, match="Channels must be"):
                    session.run(gray, {contents: data})
            else:
                assert session.run(gray, {contents: data}).shape == (3, 5, 1)
        for data in (b"", b"BM", b"no image at all", b"\xff\xd8\xff", b"GIF89a"):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(decoded, {contents: data})


def test_jpeg_quality_is_lowered():
    pytest.importorskip("PIL.Image")
    image = np.random.RandomState(1).uniform(size=(16, 16, 3)).astype(np.float32)
    good, bad = (evaluate(lambda x, q=q: tf.image.adjust_jpeg_quality(x, q), image) for q in (100, 5))
    assert np.abs(good - image).mean() < np.abs(bad - image).mean()
    with pytest.raises(tf.errors.InvalidArgumentError, match="quality"):
        evaluate(lambda x: tf.image.adjust_jpeg_quality(x, 101), image)
    assert evaluate(lambda x: tf.image.random_jpeg_quality(x, 5, 10), image).shape == image.shape

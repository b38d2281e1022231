"""tf.image: images flipped, turned, cropped and padded; colors; files of any format."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _image(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).rand(*shape).astype(np.float32))


def _bytes(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).randint(0, 256, shape), tf.uint8)


def flips(tf):
    x, batch = _image(tf, 2, 4, 3), _image(tf, 2, 3, 4, 1)
    unknown = _unknown(tf, _image(tf, 2, 4, 3))
    return [
        tf.image.flip_left_right(x), tf.image.flip_up_down(x), tf.image.flip_left_right(batch),
        tf.image.flip_up_down(batch), tf.image.flip_up_down(_unknown(tf, x, [None, 4, 3])),
        tf.image.transpose(x), tf.image.transpose_image(batch, name="t"), tf.image.flip_left_right(unknown),
    ]  # fmt: skip


def turns(tf):
    x, batch = _image(tf, 2, 4, 3), _image(tf, 2, 3, 4, 1)
    return [tf.image.rot90(x), tf.image.rot90(x, 2), tf.image.rot90(x, k=tf.constant(3)), tf.image.rot90(batch, -1)]


def random_flips(tf):
    tf.set_random_seed(5)
    x, batch = _image(tf, 2, 4, 3), _image(tf, 8, 3, 4, 1)
    return [
        tf.image.random_flip_left_right(x), tf.image.random_flip_up_down(x, seed=3),
        tf.image.random_flip_left_right(batch), tf.image.random_flip_up_down(_unknown(tf, x, [None, None, 3])),
        tf.image.random_crop(x, [1, 2, 3], seed=4),
    ]  # fmt: skip


def crops(tf):
    x, batch = _image(tf, 5, 8, 3), _image(tf, 2, 6, 7, 1)
    unknown = _unknown(tf, x, [None, None, 3])
    return [
        tf.image.central_crop(x, 0.5), tf.image.central_crop(batch, 0.3), tf.image.central_crop(x, 1.0),
        tf.image.central_crop(unknown, 0.5), tf.image.crop_to_bounding_box(x, 1, 2, 3, 4),
        tf.image.crop_to_bounding_box(batch, 1, 2, 3, 4), tf.image.crop_to_bounding_box(unknown, 0, 1, 2, 3),
        tf.image.crop_to_bounding_box(x, tf.constant(1), 2, _unknown(tf, 3, []), 4),
    ]  # fmt: skip


def pads(tf):
    x, batch = _image(tf, 2, 3, 3), _image(tf, 2, 3, 2, 1)
    unknown = _unknown(tf, x, [None, None, 3])
    return [
        tf.image.pad_to_bounding_box(x, 1, 2, 5, 6), tf.image.pad_to_bounding_box(batch, 0, 0, 4, 3),
        tf.image.pad_to_bounding_box(unknown, 1, 0, 4, 4),
        tf.image.pad_to_bounding_box(x, _unknown(tf, 1, []), 1, 4, tf.constant(5)),
    ]  # fmt: skip


def crops_or_pads(tf):
    x, batch = _image(tf, 5, 4, 3), _image(tf, 2, 3, 6, 1)
    unknown = _unknown(tf, x, [None, None, 3])
    return [
        tf.image.resize_image_with_crop_or_pad(x, 3, 6), tf.image.resize_with_crop_or_pad(batch, 4, 4),
        tf.image.resize_image_with_crop_or_pad(unknown, 6, 3),
        tf.image.resize_image_with_crop_or_pad(x, _unknown(tf, 4, []), 5),
    ]  # fmt: skip


def types(tf):
    floats, integers = _image(tf, 2, 3, 3), _bytes(tf, 2, 3, 3)
    convert = tf.image.convert_image_dtype
    return [
        convert(floats, tf.uint8), convert(floats, tf.uint8, saturate=True), convert(integers, tf.float32),
        convert(integers, tf.uint16), convert(tf.cast(integers, tf.int16), tf.int8), convert(integers, tf.uint8),
        convert(floats, tf.float64, name="wide"), convert(tf.cast(integers, tf.int32), tf.uint8, saturate=True),
        convert(integers, tf.int32, saturate=True), convert(floats * 3.0 - 1.0, tf.int16, saturate=True),
    ]  # fmt: skip


def adjustments(tf):
    floats, integers = _image(tf, 4, 5, 3), _bytes(tf, 2, 4, 5, 3)
    return [
        tf.image.adjust_brightness(floats, 0.25), tf.image.adjust_brightness(integers, -0.5),
        tf.image.adjust_contrast(floats, 2.0), tf.image.adjust_contrast(integers, 0.5),
        tf.image.adjust_gamma(floats, 2.0, 0.5), tf.image.adjust_gamma(integers, tf.constant(0.5)),
        tf.image.adjust_hue(floats, 0.3), tf.image.adjust_hue(integers, -0.4, name="hue"),
        tf.image.adjust_hue(floats, 3.75), tf.image.adjust_hue(floats, -2.5),
        tf.image.adjust_saturation(floats, 0.5), tf.image.adjust_saturation(integers, 3.0),
        tf.image.per_image_standardization(floats), tf.image.per_image_standardization(integers),
        tf.image.per_image_standardization(_unknown(tf, floats, [None, None, 3])),
    ]  # fmt: skip


def random_adjustments(tf):
    tf.set_random_seed(7)
    floats = _image(tf, 4, 5, 3)
    return [
        tf.image.random_brightness(floats, 0.5), tf.image.random_contrast(floats, 0.5, 1.5, seed=3),
        tf.image.random_hue(floats, 0.3), tf.image.random_saturation(floats, 0.1, 2.0),
    ]  # fmt: skip


def color_spaces(tf):
    floats, gray = _image(tf, 4, 5, 3), _image(tf, 2, 3, 1)
    shades = tf.constant(np.linspace(0, 1, 27, dtype=np.float32).reshape(9, 3)[:, ::-1])
    hsv = tf.image.rgb_to_hsv(floats)
    return [
        hsv, tf.image.hsv_to_rgb(hsv), tf.image.rgb_to_hsv(shades, name="named"), tf.image.hsv_to_rgb(floats),
        tf.image.rgb_to_hsv(tf.zeros([1, 3])), tf.image.rgb_to_grayscale(floats),
        tf.image.rgb_to_grayscale(_bytes(tf, 2, 2, 3)), tf.image.grayscale_to_rgb(gray),
        tf.image.grayscale_to_rgb(_unknown(tf, gray, [None, None, 1])), tf.image.rgb_to_yiq(floats),
        tf.image.yiq_to_rgb(floats), tf.image.rgb_to_yuv(floats), tf.image.yuv_to_rgb(floats),
    ]  # fmt: skip


def gradient_of_color_spaces(tf):
    x = _image(tf, 4, 5, 3)
    return tf.gradients(tf.image.rgb_to_hsv(x), x, [_image(tf, 4, 5, 3) - 0.5])


def differences(tf):
    x, batch = _image(tf, 4, 5, 3), _image(tf, 2, 4, 5, 3)
    return [
        tf.image.total_variation(x), tf.image.total_variation(batch), *tf.image.image_gradients(batch),
        tf.image.psnr(x, x + 0.1, 1.0), tf.image.psnr(_bytes(tf, 2, 3, 3), _bytes(tf, 2, 3, 3) + 1, 255, name="p"),
    ]  # fmt: skip


def files(tf):
    pixels = _bytes(tf, 2, 3, 3)
    contents = tf.image.encode_png(pixels)
    return [
        tf.image.decode_image(contents), tf.image.decode_image(contents, channels=3, dtype=tf.float32),
        tf.image.decode_image(contents, channels=1, name="gray", expand_animations=False),
        tf.image.decode_image(tf.image.encode_png(tf.cast(pixels, tf.uint16)), dtype=tf.uint16),
    ]  # fmt: skip


def jpeg_quality(tf):
    tf.image.adjust_jpeg_quality(_image(tf, 8, 8, 3), 50)
    tf.image.random_jpeg_quality(_bytes(tf, 8, 8, 3), 50, 60, seed=3)

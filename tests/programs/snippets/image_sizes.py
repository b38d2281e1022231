"""tf.image: images of another size."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _image(tf, *shape):
    return tf.constant(np.random.RandomState(len(shape)).rand(*shape).astype(np.float32))


def methods(tf):
    x, batch = _image(tf, 5, 7, 3), _image(tf, 2, 4, 3, 1)
    method = tf.image.ResizeMethod
    return [
        tf.image.resize_images(x, [8, 9]), tf.image.resize_images(batch, [3, 2], method.NEAREST_NEIGHBOR),
        tf.image.resize_images(x, [11, 4], method.BICUBIC), tf.image.resize_images(x, [3, 4], method.AREA),
        tf.image.resize(x, [8, 9], align_corners=True, name="named"), tf.image.resize_images(x, [5, 7]),
        tf.image.resize_images(x, tf.constant([2, 2])), tf.image.resize_images(x, _unknown(tf, [3, 3], [2])),
        tf.image.resize_images(_unknown(tf, x, [None, None, 3]), [4, 4]), tf.image.resize_images(x, [9, 5],
        "bilinear"),
        tf.image.resize_images(batch, [8, 9], 1, align_corners=True), tf.image.resize_images(x, [6, 6], 2, True),
        tf.image.resize_images(x, [6, 6], 3, True), tf.image.resize_images(x, [1, 1]),
        tf.image.resize_images(x, [10, 10], preserve_aspect_ratio=True),
        tf.image.resize_images(_unknown(tf, x, [None, None, 3]), [10, 10], preserve_aspect_ratio=True),
    ]  # fmt: skip


def ops_of_each_method(tf):
    batch = _image(tf, 2, 4, 5, 3)
    results = []
    for function in (tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic):
        for size in ([7, 9], [2, 3], [4, 5]):
            results += [
                function(batch, size), function(batch, size, align_corners=True),
                function(batch, size, half_pixel_centers=True),
            ]  # fmt: skip
    return results + [tf.image.resize_area(batch, [2, 3]), tf.image.resize_area(batch, [7, 9], True, "named")]


def gradients_of_sizes(tf):
    batch = _image(tf, 2, 4, 5, 3)
    results = []
    for function in (tf.image.resize_bilinear, tf.image.resize_nearest_neighbor, tf.image.resize_bicubic):
        for size in ([7, 9], [2, 3]):
            for options in ({}, {"align_corners": True}, {"half_pixel_centers": True}):
                y = function(batch, size, **options)
                results += tf.gradients(y * y, batch)
    return results + tf.gradients(tf.image.resize_nearest_neighbor(_unknown(tf, batch), [3, 3]), batch)


def sizes_with_margins(tf):
    x, batch = _image(tf, 5, 7, 3), _image(tf, 2, 4, 3, 1)
    return [
        tf.image.resize_image_with_pad(x, 8, 8), tf.image.resize_image_with_pad(batch, 3, 9),
        tf.image.resize_image_with_pad(_unknown(tf, x, [None, None, 3]), 4, 9),
        tf.image.resize_image_with_pad(x, 9, 4, method=tf.image.ResizeMethod.NEAREST_NEIGHBOR),
    ]  # fmt: skip

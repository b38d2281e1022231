"""Windows over images."""

import numpy as np


def _images(tf):
    return tf.constant(np.arange(2 * 5 * 6 * 2, dtype=np.float32).reshape(2, 5, 6, 2))


def patches(tf):
    x = _images(tf)
    unknown = tf.placeholder_with_default(tf.cast(x, tf.int32), None)
    return [
        tf.extract_image_patches(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 1, 1, 1], "VALID"),
        tf.extract_image_patches(x, [1, 3, 3, 1], [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="named"),
        tf.extract_image_patches(
            unknown, sizes=[1, 2, 2, 1], strides=[1, 3, 3, 1], rates=[1, 1, 2, 1], padding="SAME"
        ),
    ]


def gradient_of_patches(tf):
    x = _images(tf)
    found = []
    for padding in ("VALID", "SAME"):
        y = tf.extract_image_patches(x, [1, 2, 3, 1], [1, 1, 2, 1], [1, 2, 1, 1], padding)
        found += tf.gradients(y * y, x)
    return found

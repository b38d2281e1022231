"""Local response normalization, morphological dilation and erosion, and their gradients."""

import numpy as np


def _numbers(tf, *shape, **options):
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) * 37 % 101 / 20 - 2
    return tf.constant(values, name=options.get("name", "numbers"))


def local_responses(tf):
    x = _numbers(tf, 2, 3, 4, 9)
    y = tf.nn.lrn(x, 4, bias=1.0, alpha=0.001 / 9.0, beta=0.75, name="norm1")
    return [y, tf.nn.local_response_normalization(x)] + tf.gradients(y * y, x)


def morphology(tf):
    x, f = _numbers(tf, 2, 5, 6, 3), _numbers(tf, 3, 2, 3, name="filter")
    y = tf.nn.dilation2d(x, f, [1, 2, 1, 1], [1, 1, 2, 1], "SAME")
    z = tf.nn.erosion2d(x, f, [1, 1, 1, 1], [1, 1, 1, 1], "VALID")
    named = tf.nn.erosion2d(x, f, [1, 1, 1, 1], [1, 1, 1, 1], "SAME", name="named")
    return [y, z, named, tf.nn.dilation2d(x, f, [1] * 4, [1] * 4, "VALID", name="dilated")] + tf.gradients(
        [y * y, z * z], [x, f]
    )

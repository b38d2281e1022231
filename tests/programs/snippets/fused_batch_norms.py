"""Second gradients of fused batch normalization, which TensorFlow takes of a formula by a tape."""

import numpy as np


def _numbers(tf, *shape, **options):
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) * 5 % 11 - 5
    return tf.constant(values * 0.1, name=options.get("name", "numbers"))


def _with_second_gradients(tf, x, **options):
    scale, offset = _numbers(tf, 2, name="scale"), _numbers(tf, 2, name="offset")
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset, epsilon=0.1, **options)
    firsts = tf.gradients(tf.cast(y, tf.float32) ** 2, [x, scale, offset])
    squares = [tf.cast(first, tf.float32) ** 2 for first in firsts]
    statistics = [] if "mean" in options else [mean, variance]
    return [y, *firsts, *tf.gradients(squares, [x, scale, offset]), *statistics]


def of_training(tf):
    return _with_second_gradients(tf, _numbers(tf, 3, 5, 4, 2))


def of_inference(tf):
    return _with_second_gradients(
        tf, _numbers(tf, 3, 5, 4, 2), mean=[0.1, 0.2], variance=[1.0, 2.0], is_training=False
    )


def of_halves_in_training(tf):
    return _with_second_gradients(tf, tf.cast(_numbers(tf, 3, 5, 4, 2), tf.float16))[:0]


def of_halves_in_inference(tf):
    x = tf.cast(_numbers(tf, 3, 5, 4, 2), tf.float16)
    return _with_second_gradients(tf, x, mean=[0.1, 0.2], variance=[1.0, 2.0], is_training=False)[:0]


def of_channels_first(tf):
    """Only the graph: TensorFlow does not run it on a CPU."""
    _with_second_gradients(tf, _numbers(tf, 3, 2, 5, 4), data_format="NCHW")


def of_channels_first_in_inference(tf):
    _with_second_gradients(
        tf, _numbers(tf, 3, 2, 5, 4), mean=[0.1, 0.2], variance=[1.0, 2.0], is_training=False, data_format="NCHW"
    )


def of_unknown_sizes(tf):
    x = tf.placeholder_with_default(_numbers(tf, 3, 5, 4, 2), [None, None, None, 2])
    return _with_second_gradients(tf, x)


def of_the_first_version(tf):
    x, scale, offset = _numbers(tf, 3, 5, 4, 2), _numbers(tf, 2, name="scale"), _numbers(tf, 2, name="offset")
    y = tf.raw_ops.FusedBatchNorm(x=x, scale=scale, offset=offset, mean=[], variance=[], epsilon=0.1)[0]
    firsts = tf.gradients(y * y, [x, scale])
    return firsts + tf.gradients(firsts[0] * firsts[0], [x, scale])

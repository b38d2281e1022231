"""Pools in one to three dimensions, batch normalization in one op, and their gradients."""

import numpy as np


def _numbers(tf, *shape, **options):
    values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) * 37 % 101 - 50
    return tf.constant(values, name=options.get("name", "numbers"))


def max_pools(tf):
    x = _numbers(tf, 2, 6, 8, 3)
    y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    first = tf.gradients(y * y, x)
    return [y, tf.nn.max_pool(x, 3, 2, "VALID", name="named"), tf.nn.max_pool(x, [2, 3], [1, 2], "SAME")] + first


def avg_pools(tf):
    x = _numbers(tf, 2, 6, 8, 3)
    y = tf.nn.avg_pool(x, [1, 3, 2, 1], [1, 2, 2, 1], "SAME")
    first = tf.gradients(y * y, x)
    second = tf.gradients(first[0] * first[0], x)
    return [y, tf.nn.avg_pool(x, 3, 2, "VALID", name="named")] + first + second


def second_gradient_of_max_pool(tf):
    x = _numbers(tf, 2, 6, 8, 3)
    y = tf.nn.max_pool(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    g = tf.gradients(y * y, x)[0]
    return tf.gradients(g * g, x)


def with_places(tf):
    x = _numbers(tf, 2, 6, 8, 3)
    y, places = tf.nn.max_pool_with_argmax(x, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
    counted = tf.nn.max_pool_with_argmax(
        x, [1, 3, 3, 1], [1, 2, 2, 1], "VALID", include_batch_in_index=True, name="named"
    )
    return [y, places] + list(counted) + tf.gradients(y * y, x)


def in_other_dimensions(tf):
    row, cube = _numbers(tf, 2, 9, 3), _numbers(tf, 1, 4, 6, 4, 2, name="cube")
    found = []
    for kind in ("max", "avg"):
        y = getattr(tf.nn, kind + "_pool1d")(row, 3, 2, "SAME")
        z = getattr(tf.nn, kind + "_pool3d")(cube, [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "VALID")
        found += [y, z] + tf.gradients([y * y, z * z], [row, cube])
        pool = getattr(tf.nn, kind + "_pool_v2")
        found += [pool(row, [3], [2], "VALID", name="named"), pool(cube, 2, 1, "SAME")]
    found += [tf.nn.max_pool2d(cube[0], 2, 1, "SAME"), tf.nn.avg_pool2d(cube[0], 2, 1, "SAME")]
    return found


def pools(tf):
    found = []
    for count in (1, 2, 3):
        x = _numbers(tf, 1, *[7, 6, 8][:count] + [2])
        for kind in ("MAX", "AVG"):
            found.append(tf.nn.pool(x, [3, 2, 2][:count], kind, "SAME", strides=[2, 1, 2][:count]))
            found.append(
                tf.nn.pool(x, [2, 2, 2][:count], kind, "VALID", dilation_rate=[2, 1, 2][:count], name="named")
            )
    return found


def batch_norms(tf):
    x, scale, offset = _numbers(tf, 2, 3, 4, 3), tf.constant([1.0, 2.0, 0.5]), tf.constant([0.0, -1.0, 3.0])
    y, mean, variance = tf.nn.fused_batch_norm(x, scale, offset)
    z = tf.nn.fused_batch_norm(
        x, scale, offset, tf.ones(3), tf.fill([3], 2.0), epsilon=1e-6, is_training=False, name="named"
    )
    return [y, mean, variance, z[0]] + tf.gradients([y * y, z[0]], [x, scale, offset])

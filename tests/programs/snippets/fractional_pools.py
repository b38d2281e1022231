"""Pools over cells that are drawn at random, and their gradients."""


def _images(tf, dtype="float32", sizes=(2, 11, 13, 3)):
    count = sizes[0] * sizes[1] * sizes[2] * sizes[3]
    numbers = tf.constant([i * 37 % 101 % 23 - 9 for i in range(count)], tf.int32)
    return tf.cast(tf.reshape(numbers, sizes), dtype)


def _pools(tf, pool, dtype, **kwargs):
    images = _images(tf, dtype)
    found = []
    for ratio in ([1.0, 1.44, 1.73, 1.0], [1.0, 2.75, 1.3, 1.0], [1.0, 1.0, 13.0, 1.0]):
        pooled = pool(images, ratio, deterministic=True, seed=3, seed2=5, **kwargs)
        found += list(pooled)
        if not images.dtype.is_integer:
            found += tf.gradients(pooled[0], images, tf.square(pooled[0]) + 1)
    return found


def largest(tf):
    return _pools(tf, tf.nn.fractional_max_pool, "float32")


def largest_of_overlapping_cells(tf):
    return _pools(tf, tf.nn.fractional_max_pool, "float64", overlapping=True)


def largest_of_pseudo_random_cells(tf):
    return _pools(tf, tf.nn.fractional_max_pool, "int64", pseudo_random=True)


def means(tf):
    return _pools(tf, tf.nn.fractional_avg_pool, "float32")


def means_of_overlapping_cells(tf):
    return _pools(tf, tf.nn.fractional_avg_pool, "float64", overlapping=True, pseudo_random=True)


def means_of_integers(tf):
    return _pools(tf, tf.nn.fractional_avg_pool, "int32")

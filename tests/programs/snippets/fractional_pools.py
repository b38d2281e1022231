"""Pools over cells that are drawn at random, and their gradients."""

import numpy as np


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


def seeded_pools_of_tensorflow_2(tf):
    tf.set_random_seed(4)
    x = tf.constant(np.arange(120, dtype=np.float32).reshape(1, 10, 12, 1) % 17)
    nn = tf.compat.v2.nn
    pools = [nn.fractional_avg_pool(x, [1, 1.4, 1.7, 1], seed=3), nn.fractional_max_pool(x, 1.5, True, seed=5)]
    nn.fractional_max_pool(x, [1.5, 2.2], overlapping=True)
    return [result for pool in pools for result in pool]

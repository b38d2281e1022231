"""Transformations of tf.data.experimental and tf.contrib.data: their nodes, functions and elements."""

import numpy as np

from programs.snippets.dataset_functions import _elements


def groups(tf):
    numbers = tf.data.Dataset.range(9)
    windows = numbers.apply(
        tf.contrib.data.group_by_window(lambda x: x % 2, lambda key, window: window.batch(3), window_size=3)
    )
    two = tf.constant(2, tf.int64, name="two")
    pairs = tf.data.Dataset.zip((numbers, numbers.map(tf.square))).apply(
        tf.data.experimental.group_by_window(
            lambda x, y: x % 3,
            lambda key, window: window.batch(4).map(lambda x, y: (key, x, y + two)),
            window_size_func=lambda key: key + 1,
        )
    )
    return _elements(tf, windows, 4) + _elements(tf, pairs, 4)


def buckets(tf):
    lengths = tf.data.Dataset.from_tensor_slices(np.int32([3, 1, 7, 2, 5, 1, 4]))
    texts = lengths.map(lambda n: tf.fill([n], n))
    found = []
    for settings in ({}, {"padding_values": -1}):
        bucketed = texts.apply(
            tf.contrib.data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], **settings)
        )
        found += _elements(tf, bucketed, 4)
    return found


def scans(tf):
    numbers = tf.data.Dataset.range(5)
    sums = numbers.apply(tf.data.experimental.scan(np.int64(0), lambda state, x: (state + x, (state, x))))
    growing = numbers.apply(
        tf.contrib.data.scan(tf.zeros([0], tf.int64), lambda state, x: (tf.concat([state, [x]], 0), tf.size(state)))
    )
    counted = tf.contrib.data.Counter(3, 2)
    return _elements(tf, sums, 4) + _elements(tf, growing, 3) + _elements(tf, counted, 3)


def rows(tf):
    batches = tf.data.Dataset.from_tensor_slices(
        {"a": np.arange(12).reshape(2, 3, 2), "b": np.float32([[1, 2, 3]] * 2)}
    )
    pairs = tf.data.Dataset.range(6).batch(4)
    return _elements(tf, batches.apply(tf.contrib.data.unbatch()), 5) + _elements(
        tf, pairs.apply(tf.data.experimental.unbatch()), 6
    )


def interleaved(tf):
    numbers = tf.data.Dataset.from_tensor_slices(np.int64([5, 1, 3, 0, 4]))
    found = []
    for cycle, block in ((2, 1), (3, 2), (2, 2)):
        dataset = numbers.apply(
            tf.contrib.data.parallel_interleave(lambda n: tf.data.Dataset.range(n), cycle, block_length=block)
        )
        found += _elements(tf, dataset, 13)
    return found


def chosen(tf):
    numbers = tf.data.Dataset.range(3)
    others = tf.data.Dataset.range(10, 20)
    order = tf.data.Dataset.from_tensor_slices(np.int64([1, 0, 0, 1, 0, 0, 0, 1]))
    return _elements(tf, tf.contrib.data.choose_from_datasets([numbers, others], order), 6)


def simple(tf):
    numbers = tf.data.Dataset.range(7)
    checked = numbers.map(lambda x: tf.check_numerics(1.0 / tf.cast(x - 2, tf.float32), "bad"))
    found = _elements(tf, checked.apply(tf.contrib.data.ignore_errors()), 6)
    found += _elements(tf, numbers.apply(tf.contrib.data.enumerate_dataset(5)), 2)
    found += _elements(tf, numbers.apply(tf.contrib.data.batch_and_drop_remainder(3)), 2)
    found += _elements(tf, numbers.apply(tf.contrib.data.map_and_batch(lambda x: x * 2, 3, drop_remainder=True)), 2)
    return [*found, tf.contrib.data.get_single_element(numbers.skip(6))]

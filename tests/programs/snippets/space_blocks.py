"""Blocks as batches and as depth, repeated elements, other types, edit distances."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _array(tf, *shape):
    return tf.constant(np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape))


def batches(tf):
    x, y = _array(tf, 2, 4, 6, 3), _array(tf, 12, 2, 3)
    return [
        tf.space_to_batch(x, [[0, 0], [0, 0]], 2), tf.space_to_batch(x, [[1, 1], [0, 2]], block_size=2, name="named"),
        tf.space_to_batch_nd(x, [2, 3], [[0, 0], [1, 2]]), tf.manip.space_to_batch_nd(x, [4], [[0, 0]]),
        tf.batch_to_space_nd(y, [2, 3], [[0, 1], [2, 0]], name="back"), tf.manip.batch_to_space_nd(y, [3], [[0, 0]]),
        tf.batch_to_space(_array(tf, 4, 2, 2, 1), [[0, 1], [1, 0]], 2), tf.nn.space_to_batch(x, [[0, 0]] * 2, 2),
        tf.space_to_batch_nd(_unknown(tf, x, [None, 4, None, 3]), [2, 2], [[0, 0], [0, 0]]),
        tf.space_to_batch_nd(_unknown(tf, x), _unknown(tf, [2, 2], [2]), [[0, 0], [0, 0]]),
    ]  # fmt: skip


def gradients_of_batches(tf):
    x, y = _array(tf, 2, 4, 6, 3), _array(tf, 12, 2, 3)
    a = tf.space_to_batch_nd(x, [2, 3], [[0, 0], [1, 2]])
    b = tf.batch_to_space_nd(y, [2, 3], [[0, 1], [2, 0]])
    return tf.gradients([a * a, b * b], [x, y])


def required_paddings(tf):
    return [
        *tf.required_space_to_batch_paddings([5, 6], [2, 4]),
        *tf.required_space_to_batch_paddings([5, 6], [2, 4], [[1, 0], [2, 3]], name="named"),
        *tf.required_space_to_batch_paddings(_unknown(tf, [5, 6], [2]), [2, 4]),
        *tf.required_space_to_batch_paddings(np.zeros([0], np.int32), np.zeros([0], np.int32)),
    ]


def depths(tf):
    x, y = _array(tf, 2, 4, 6, 3), _array(tf, 2, 2, 3, 12)
    return [
        tf.space_to_depth(x, 2), tf.depth_to_space(y, 2), tf.nn.depth_to_space(y, 2, name="named"),
        tf.nn.space_to_depth(_unknown(tf, x), 2), tf.depth_to_space(_unknown(tf, y, [None, None, 3, 12]), 2),
    ]  # fmt: skip


def gradients_of_depths(tf):
    x, y = _array(tf, 2, 4, 6, 3), _array(tf, 2, 2, 3, 12)
    return tf.gradients([tf.space_to_depth(x, 2) ** 2, tf.depth_to_space(y, 2) ** 2], [x, y])


def bitcasts(tf):
    x = tf.constant([[1.5, -2.0], [0.0, 1e30]])
    return [
        tf.bitcast(x, tf.int32), tf.bitcast(x, tf.uint8, name="bytes"), tf.bitcast(x, tf.float64),
        tf.bitcast(tf.constant([1, 2, 3, 4], tf.uint8), tf.int32), tf.bitcast(tf.constant(7, tf.int64), tf.int16),
        tf.bitcast(_unknown(tf, x), tf.int64),
    ]  # fmt: skip


def repeats(tf):
    x = _array(tf, 2, 3)
    return [
        tf.repeat(["a", "b", "c"], repeats=[3, 0, 2], axis=0), tf.repeat(x, [2, 3], axis=0), tf.repeat(x, 2, axis=1),
        tf.repeat(x, [1, 2, 0], axis=-1), tf.repeat(3, repeats=4), tf.repeat(x, 2, name="flat"),
        tf.repeat(_unknown(tf, x, [None, None]), [2, 0, 1], axis=1), tf.repeat(x, tf.constant([1, 1], tf.int64), 0),
        tf.repeat(_unknown(tf, x), 2, axis=0),
    ]  # fmt: skip


def _sequences(tf, *texts):
    rows = [[i, j] for i, text in enumerate(texts) for j in range(len(text))]
    letters = [letter for text in texts for letter in text]
    return tf.SparseTensor(np.array(rows, np.int64).reshape(-1, 2), letters, [len(texts), 10])


def edit_distances(tf):
    hypothesis = _sequences(tf, "kitten", "flaw", "", "x", "", "abc")
    truth = _sequences(tf, "sitting", "lawn", "", "", "xyz", "abc")
    numbers = tf.SparseTensor([[0, 0, 0], [0, 0, 1], [1, 1, 0]], [1, 2, 3], [2, 2, 2])
    others = tf.SparseTensor([[0, 0, 0], [1, 0, 0], [1, 1, 1]], [2, 2, 3], [2, 3, 2])
    return [
        tf.edit_distance(hypothesis, truth), tf.edit_distance(hypothesis, truth, normalize=False, name="plain"),
        tf.edit_distance(numbers, others), tf.edit_distance(others, numbers, normalize=False),
    ]  # fmt: skip

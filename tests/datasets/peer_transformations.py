"""Pipelines of transformations composed at random, and what they bring; runs in TensorFlow's Python too.

python peer_transformations.py FIRST LAST RESULT.json
"""

import json
import os
import sys
import warnings

import numpy as np

MOST_ELEMENTS = 60


def source(tf, draw):
    data = tf.data.Dataset
    kind = draw.randint(5)
    if kind == 0:
        return data.range(int(draw.randint(12)))
    if kind == 1:
        return data.range(*(int(n) for n in (draw.randint(9), draw.randint(20), draw.choice([-2, 1, 3]))))
    if kind == 2:
        return data.from_tensor_slices(np.arange(draw.randint(1, 14), dtype=np.int64) * 10)
    if kind == 3:
        return data.from_tensors(np.int64(draw.randint(9)))
    rows = int(draw.randint(1, 7))
    return data.zip((data.range(rows), data.range(5, 20))).map(lambda a, b: a * 100 + b)


def transformed(tf, draw, dataset):
    """A scalar int64 data set made of another."""
    number = int(draw.randint(-1, 6))
    more = int(draw.randint(1, 6))
    seed = int(draw.randint(100))
    kind = draw.randint(17)
    if kind == 0:
        return dataset.take(number)
    if kind == 1:
        return dataset.skip(number)
    if kind == 2:
        return dataset.repeat(int(draw.choice([-1, 1, 2, 3])))  # TensorFlow's fusion refuses 0
    if kind in (3, 4):
        return dataset.shuffle(more, seed=seed)
    if kind == 5:
        return dataset.shuffle(more * 3, seed=seed, reshuffle_each_iteration=bool(draw.randint(2)))
    if kind == 6:
        return dataset.shard(more, int(draw.randint(more)))
    if kind == 7:
        return dataset.concatenate(source(tf, draw))
    if kind == 8:
        return dataset.batch(more, drop_remainder=bool(draw.randint(2))).map(tf.reduce_sum)
    if kind == 9:
        return dataset.cache()
    if kind == 10:
        return dataset.prefetch(number)
    if kind == 11:
        return dataset.filter(lambda n: tf.not_equal(n % (more + 1), 0))
    if kind == 12:
        return dataset.flat_map(lambda n: tf.data.Dataset.range(n % 4).shuffle(2, seed=seed))
    if kind == 13:
        shift, stride = int(draw.randint(1, 4)), int(draw.randint(1, 3))
        windows = dataset.window(more, shift, stride, bool(draw.randint(2)))
        return windows.flat_map(lambda window: window.batch(10)).map(tf.reduce_sum)
    if kind == 14:
        return dataset.interleave(lambda n: tf.data.Dataset.range(n, n + 3), more, int(draw.randint(1, 3)))
    if kind == 15:
        return dataset.enumerate(start=3).map(lambda i, n: i * n)
    ragged = dataset.map(lambda n: tf.fill([n % 3], n))
    return ragged.padded_batch(more, [None], np.int64(seed)).map(tf.reduce_sum)


def pipeline(tf, number):
    draw = np.random.RandomState(number)
    dataset = source(tf, draw)
    for _ in range(draw.randint(1, 7)):
        dataset = transformed(tf, draw, dataset)
    return dataset.batch(3) if draw.randint(2) else dataset


def outcomes(tf, number):
    """What two beginnings bring: elements, up to a number of them, and the type of an error."""
    found = []
    with tf.Graph().as_default():
        tf.set_random_seed(number)
        iterator = tf.data.make_initializable_iterator(pipeline(tf, number))
        element = iterator.get_next()
        with tf.Session() as session:
            for _ in range(2):
                try:
                    session.run(iterator.initializer)
                    found.append([])
                    while len(found[-1]) < MOST_ELEMENTS:
                        found[-1].append(np.asarray(session.run(element)).tolist())
                except tf.errors.OpError as error:
                    found.append(type(error).__name__)
    return found


def main():
    warnings.filterwarnings("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow

    first, last = int(sys.argv[1]), int(sys.argv[2])
    found = [outcomes(tensorflow.compat.v1, number) for number in range(first, last)]
    with open(sys.argv[3], "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()

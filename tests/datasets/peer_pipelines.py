"""Random pipelines of data sets, and what comes out of them; runs here and in a real TensorFlow's Python.

python peer_pipelines.py FIRST LAST RESULT.npz      writes graphs and elements of these numbers
"""

import os
import sys
import warnings

import numpy as np

MOST_ELEMENTS = 30


class Choices:
    """The random decisions of one pipeline, the same in every Python."""

    def __init__(self, number):
        self._random = np.random.RandomState(number)

    def among(self, items):
        return items[self._random.randint(len(items))]

    def number(self, low, high):
        return int(self._random.randint(low, high + 1))


def maps(tf, choices):
    three = tf.constant(choices.number(1, 5), tf.int64, name="captured")
    table = tf.constant([5, 3, 9, 1], tf.int64)
    return [
        lambda x: x * 3 + 1,
        lambda x: x % 7,
        lambda x: x * three - three,
        lambda x: tf.gather(table, x % 4) + x,
        lambda x: tf.where(x > 5, x, -x),
        lambda x: tf.reduce_sum(tf.stack([x, x + 1, three])),
        lambda x: x + tf.random_uniform([], maxval=100, dtype=tf.int64, seed=choices.number(1, 9)),
        lambda x: x + tf.random_uniform([], maxval=10, dtype=tf.int64),
        lambda x: tf.cast(tf.round(tf.cast(x, tf.float32) * 1.5), tf.int64),
        lambda x: tf.random_shuffle(tf.stack([x, x + 10, x + 20]), seed=3)[0],
    ]


def inner_datasets(tf, choices):
    data = tf.data.Dataset
    outside = data.range(choices.number(1, 4))
    ten = tf.constant(10, tf.int64)
    return [
        lambda x: data.range(x % 4),
        lambda x: data.from_tensors(x).repeat(2),
        lambda x: data.range(3).map(lambda y: x * ten + y),
        lambda x: data.range(4).shuffle(4, seed=5).map(lambda y: y + x),
        lambda x: outside,
        lambda x: outside.map(lambda y: y + x),
        lambda x: data.range(2).map(lambda y: tf.random_uniform([], maxval=100, dtype=tf.int64, seed=7) + y),
        lambda x: data.range(4).filter(lambda y: tf.equal((x + y) % 2, 0)),
    ]


def stage(tf, choices, dataset):
    """The data set with one more transformation, of int64 scalars again."""
    data = tf.data.Dataset
    kind = choices.number(0, 14)
    if kind <= 2:
        function = choices.among(maps(tf, choices))
        return dataset.map(function)
    if kind == 3:
        # Only functions without state give the same in TensorFlow, where calls overtake each other.
        return dataset.map(choices.among(maps(tf, choices)[:6]), num_parallel_calls=choices.number(1, 4))
    if kind == 4:
        limit = tf.constant(choices.number(0, 6), tf.int64)
        return dataset.filter(choices.among([lambda x: tf.equal(x % 2, 0), lambda x: x > limit, lambda x: x < 50]))
    if kind <= 6:
        return dataset.flat_map(choices.among(inner_datasets(tf, choices)))
    if kind == 7:
        inner = choices.among(inner_datasets(tf, choices))
        return dataset.interleave(inner, cycle_length=choices.number(1, 3), block_length=choices.number(1, 2))
    if kind == 8:
        cycle = choices.number(1, 3)
        inner = choices.among(inner_datasets(tf, choices)[:4])
        return dataset.interleave(inner, cycle, choices.number(1, 2), num_parallel_calls=choices.number(1, cycle))
    if kind == 9:
        return dataset.shuffle(choices.number(2, 6), seed=choices.number(1, 9))
    if kind == 10:
        return choices.among([dataset.repeat(2), dataset.take(9), dataset.skip(1), dataset.prefetch(2)])
    if kind == 11:
        return dataset.batch(choices.number(1, 3)).flat_map(data.from_tensor_slices)
    if kind == 12:
        windows = dataset.window(choices.number(1, 4), shift=choices.number(1, 3))
        return windows.flat_map(lambda window: window.batch(2)).flat_map(data.from_tensor_slices)
    if kind == 13:
        return data.zip((dataset, data.range(2, 20))).map(lambda x, y: x * y)
    return dataset.concatenate(dataset.map(lambda x: x + 1000))


def pipeline(tf, number):
    choices = Choices(number)
    if choices.number(0, 1):
        tf.set_random_seed(choices.number(0, 1000))
    dataset = tf.data.Dataset.range(choices.number(3, 8))
    for _ in range(choices.number(1, 5)):
        dataset = stage(tf, choices, dataset)
    if choices.number(0, 3):
        return dataset, dataset.make_initializable_iterator()
    return dataset, dataset.make_one_shot_iterator()


def is_seeded(graph_def):
    """Whether all random nodes have seeds, so that the elements are the same in every process."""
    nodes = [*graph_def.node, *(node for function in graph_def.library.function for node in function.node_def)]
    return all(
        node.attr["seed"].i or node.attr["seed2"].i for node in nodes if "seed2" in node.attr and "seed" in node.attr
    )


def run(tf, number):
    """The GraphDef as bytes, and the elements, -1 for an error, of two passes."""
    with tf.Graph().as_default() as graph:
        _, iterator = pipeline(tf, number)
        element = iterator.get_next()
        graph_def = graph.as_graph_def()
        found = []
        with tf.Session() as session:
            for _ in range(2):
                if iterator._initializer is not None:  # others start themselves
                    session.run(iterator.initializer)
                try:
                    for _ in range(MOST_ELEMENTS):
                        found.append(int(session.run(element)))
                except tf.errors.OutOfRangeError:
                    found.append(-(10**9))
    if not is_seeded(graph_def):
        found = found[:0]
    return np.frombuffer(graph_def.SerializeToString(), np.uint8), np.array(found, np.int64)


def main(first, last, path):
    warnings.filterwarnings("ignore")
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    tf.logging.set_verbosity(tf.logging.ERROR)
    arrays = {}
    for number in range(int(first), int(last)):
        graph, elements = run(tf, number)
        arrays[f"graph{number}"] = graph
        arrays[f"elements{number}"] = elements
    np.savez_compressed(path, **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])

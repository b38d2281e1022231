"""How many elements datasets say that they have; the numbers are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import stillflow as tf

D = tf.data.Dataset
CASES = {
    "map": (lambda: D.range(10).map(lambda x: x), 10),
    "filter": (lambda: D.range(10).filter(lambda x: True), -2),
    "flat_map": (lambda: D.range(3).flat_map(lambda x: D.range(2)), -2),
    "take": (lambda: D.range(10).repeat().take(3), 3),
    "take all of an endless one": (lambda: D.range(3).repeat().take(-1), -1),
    "skip": (lambda: D.range(10).skip(-1), 0),
    "window": (lambda: D.range(10).window(3, 2), 5),
    "window without the rest": (lambda: D.range(10).window(3, 2, 1, True), 4),
    "batch": (lambda: D.range(10).batch(3), 4),
    "batch without the rest": (lambda: D.range(10).batch(3, True), 3),
    "padded_batch": (lambda: D.range(10).padded_batch(3, []), 4),
    "zip": (lambda: D.zip((D.range(3), D.range(4).repeat())), 3),
    "concatenate": (lambda: D.range(3).concatenate(D.range(2)), 5),
    "shard": (lambda: D.range(10).shard(4, 1), 3),
    "repeat": (lambda: D.range(3).repeat(0), 0),
    "shuffle_and_repeat": (lambda: D.range(3).apply(tf.data.experimental.shuffle_and_repeat(4, 2)), 6),
    "from_generator": (lambda: D.from_generator(lambda: iter([1]), tf.int64), -2),
    "cache": (lambda: D.range(3).cache().prefetch(1).shuffle(2), 3),
    "tensors": (lambda: D.from_tensors(1), 1),
    "slices": (lambda: D.from_tensor_slices(np.ones((4, 2))), 4),
    "range": (lambda: D.range(1, 10, 4), 3),
    "range downwards": (lambda: D.range(5, 1, -2), 2),
    "widest range": (lambda: D.range(-(2**63), 2**63 - 1, 2**62), 4),
}


@pytest.mark.parametrize("name", CASES)
def test_cardinality(name):
    make, expected = CASES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        assert session.run(tf.data.experimental.cardinality(make())) == expected


def test_both_names_of_the_op():
    for op in (tf.raw_ops.DatasetCardinality, tf.raw_ops.ExperimentalDatasetCardinality):
        with tf.Session() as session:
            assert session.run(op(input_dataset=tf.data.Dataset.range(3)._variant_tensor)) == 3

"""Elements that are left out so that classes have other shares; the values are TensorFlow 1.15.5's."""

import numpy as np
import pytest

import stillflow as tf

CLASSES = np.array([0, 1, 0, 0] * 50)
TARGET = [0.2, 0.8]


def resampled(initial, count, seed=4):
    with tf.Graph().as_default(), tf.Session() as session:
        classes = tf.data.Dataset.from_tensor_slices(CLASSES).repeat()
        resample = tf.data.experimental.rejection_resample(lambda c: tf.cast(c, tf.int32), TARGET, initial, seed=seed)
        element = classes.apply(resample).make_one_shot_iterator().get_next()
        return [tuple(map(int, session.run(element))) for _ in range(count)]


@pytest.mark.parametrize(
    ("initial", "expected"),
    [
        (TARGET, "010001000100"),
        ([0.75, 0.25], "1101111111110101111111011111111010111111"),
        (None, "1101111111110101111111011110111010111111"),
    ],
)
def test_elements_are_left_out_where_tensorflow_leaves_them_out(initial, expected):
    found = resampled(initial, len(expected))
    assert all(label == element for label, element in found)
    assert "".join(str(label) for label, _ in found) == expected


def test_shares_are_those_that_are_wanted():
    labels = [label for label, _ in resampled([0.75, 0.25], 2000)]
    assert abs(np.mean(labels) - TARGET[1]) < 0.03


def test_weights_are_as_many_as_data_sets():
    sources = [tf.data.Dataset.range(3)] * 2
    sample = tf.data.experimental.sample_from_datasets
    with pytest.raises(ValueError, match=r"`weights` must be a vector of length `len\(datasets\)`."):
        sample(sources, weights=[0.25, 0.25, 0.5])
    with pytest.raises(TypeError, match="`tf.float32` or `tf.float64` elements"):
        sample(sources, weights=[1, 2])
    with pytest.raises(TypeError, match="must have the same types"):
        sample([tf.data.Dataset.range(2), tf.data.Dataset.from_tensors("a")])

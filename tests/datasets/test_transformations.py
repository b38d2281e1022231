"""Transformations of tf.contrib.data: errors, positions in checkpoints, and what depends on data."""

import numpy as np
import pytest

import stillflow as tf


def elements(dataset):
    element = dataset.make_one_shot_iterator().get_next()
    found = []
    with tf.Session() as sess:
        while True:
            try:
                found.append(sess.run(element))
            except tf.errors.OutOfRangeError:
                return found


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def texts(*lengths):
    return tf.data.Dataset.from_tensor_slices(np.int32(lengths)).map(lambda n: tf.fill([n], n))


def test_buckets_are_padded_to_their_boundaries():
    settings = {"pad_to_bucket_boundary": True}
    bucket = tf.contrib.data.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], **settings)
    assert [batch.tolist() for batch in elements(texts(3, 1, 2).apply(bucket))] == [[[1, 0], [2, 2]], [[3, 3, 3, 0]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="elements must have length < max"):
        elements(texts(5).apply(bucket))
    with pytest.raises(ValueError, match=r"must equal len\(bucket_boundaries\) \+ 1"):
        tf.contrib.data.bucket_by_sequence_length(tf.size, [3], [2])


def test_windows_need_elements():
    grouped = tf.data.Dataset.range(3).apply(
        tf.contrib.data.group_by_window(lambda x: x, lambda key, w: w.batch(1), window_size_func=lambda key: key - 1)
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Window size must be greater than zero, but got -1."):
        elements(grouped)
    with pytest.raises(ValueError, match="Must pass either window_size or window_size_func."):
        tf.contrib.data.group_by_window(lambda x: x, lambda key, w: w)
    with pytest.raises(TypeError, match="`reduce_func` must return a `Dataset` object."):
        tf.data.Dataset.range(3).apply(tf.contrib.data.group_by_window(lambda x: x, lambda key, w: key, 1))


def test_single_elements_are_single():
    for dataset, text in (
        (tf.data.Dataset.range(2), "had more than one element"),
        (tf.data.Dataset.range(0), "empty"),
    ):
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
            sess.run(tf.contrib.data.get_single_element(dataset))


def test_batches_that_differ_in_size_have_no_rows():
    ragged = tf.data.Dataset.from_generator(lambda: [([1], [1, 2])], (tf.int64, tf.int64), ([None], [None]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Component 0 had size 1 but component 1 had size, 2"):
        elements(ragged.apply(tf.contrib.data.unbatch()))
    with pytest.raises(ValueError, match="has insufficient rank for batching"):
        tf.data.Dataset.range(3).apply(tf.contrib.data.unbatch())


def test_choices_are_numbers_of_data_sets():
    numbers = tf.data.Dataset.range(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Selector index out of range: 2 >= 2"):
        elements(tf.contrib.data.choose_from_datasets([numbers, numbers], numbers))
    with pytest.raises(TypeError, match="`choice_dataset` must be a dataset of scalar `tf.int64` tensors."):
        tf.contrib.data.choose_from_datasets([numbers], numbers.batch(2))

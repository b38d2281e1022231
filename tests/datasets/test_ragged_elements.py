"""Ragged tensors as elements of data sets: values and nodes as TensorFlow 1.15.5 has them."""

import numpy as np
import pytest

import stillflow as tf

ROWS = [[[1, 2], [3]], [], [[4]]]
Dataset = tf.data.Dataset
IN_SLICES = ["Const"] * 3 + ["RaggedTensorToVariant", "TensorSliceDataset"]


def slices():
    return Dataset.from_tensor_slices(tf.ragged.constant(ROWS))


def elements(dataset):
    """The elements as lists, and the types of the nodes that make them."""
    following = tf.compat.v1.data.make_initializable_iterator(dataset)
    element = following.get_next()
    found = []
    with tf.compat.v1.Session() as session:
        session.run(following.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            while True:
                found.append(as_lists(session.run(element)))
    return found


def as_lists(value):
    if isinstance(value, tuple):
        return tuple(map(as_lists, value))
    if isinstance(value, dict):
        return {key: as_lists(part) for key, part in value.items()}
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value.to_list()


def ranges(n):
    return tf.ragged.range(tf.range(tf.cast(n, tf.int32)))


PIPELINES = {
    "tensors": (lambda: Dataset.from_tensors(tf.ragged.constant(ROWS)), [ROWS]),
    "arrays": (lambda: Dataset.from_tensors(tf.compat.v1.ragged.constant_value(ROWS)), [ROWS]),
    "slices": (slices, ROWS),
    "batches": (lambda: slices().batch(2), [ROWS[:2], ROWS[2:]]),
    "whole batches": (lambda: slices().batch(2, drop_remainder=True), [ROWS[:2]]),
    "map": (lambda: slices().map(lambda x: x * 2), [[[2, 4], [6]], [], [[8]]]),
    "made": (lambda: Dataset.range(4).map(ranges).batch(2), [[[], [[]]], [[[], [0]], [[], [0], [0, 1]]]]),
    "unbatch": (lambda: slices().batch(3).apply(tf.data.experimental.unbatch()), ROWS),
    "flat_map": (lambda: slices().batch(3).flat_map(Dataset.from_tensor_slices), ROWS),
    "filter": (lambda: slices().filter(lambda x: x.nrows() > 0), [ROWS[0], ROWS[2]]),
    "zip": (lambda: Dataset.zip((slices(), Dataset.range(3))), list(zip(ROWS, range(3), strict=True))),
    "concatenate": (lambda: slices().concatenate(slices()), ROWS + ROWS),
    "windows": (lambda: slices().window(2).flat_map(lambda w: w.batch(2)), [ROWS[:2], ROWS[2:]]),
    "scan": (lambda: slices().apply(tf.data.experimental.scan(0, lambda s, x: (s + 1, x))), ROWS),
    "map_and_batch": (lambda: slices().apply(tf.data.experimental.map_and_batch(lambda x: x, 3)), [ROWS]),
    "dictionaries": (
        lambda: Dataset.from_tensor_slices({"a": tf.ragged.constant(ROWS), "b": [1, 2, 3]}).prefetch(1),
        [{"a": rows, "b": i + 1} for i, rows in enumerate(ROWS)],
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_elements(name):
    make, expected = PIPELINES[name]
    assert elements(make()) == expected


def test_a_variant_carries_each_element():
    dataset = slices()
    assert [node.op for node in tf.get_default_graph().as_graph_def().node] == IN_SLICES
    assert dataset.element_spec == tf.RaggedTensorSpec([None, None], tf.int32)
    assert dataset.batch(2).element_spec == tf.RaggedTensorSpec([None, None, None], tf.int32)
    assert tf.compat.v1.data.get_output_classes(dataset) == dataset.element_spec
    element = tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()
    assert element.flat_values.op.type == "RaggedTensorFromVariant"


def test_rows_of_a_vector_are_no_ragged_tensors():
    dataset = Dataset.from_tensor_slices(tf.ragged.constant([[1, 2], []]))
    assert elements(dataset.batch(2)) == [[[1, 2], []]]
    with pytest.raises(ValueError, match="ragged_rank must be non-negative; got 0"):
        tf.compat.v1.data.make_one_shot_iterator(dataset).get_next()


def test_a_legacy_structure_is_a_specification():
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    iterator = tf.compat.v1.data.Iterator.from_structure(tf.int32, tf.TensorShape([None, None]), output_classes=spec)
    element = iterator.get_next()
    with tf.compat.v1.Session() as session:
        session.run(iterator.make_initializer(slices()))
        assert session.run(element).to_list() == ROWS[0]

"""Matrices of checkpoints in the order of new vocabularies."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.variables.slices import PartitionInfo


@pytest.fixture
def checkpoint(tmp_path):
    """A matrix [[0, 1, 2], [10, 11, 12], [20, 21, 22]], and the vocabularies of TensorFlow's example."""
    matrix = tf.Variable(np.arange(3.0)[:, None] * 10 + np.arange(3.0), dtype=tf.float32, name="matrix")
    for name, words in {
        "old_rows": "mercury venus mars",
        "new_rows": "venus jupiter mercury",
        "old_columns": "good better best",
        "new_columns": "good best fantastic",
    }.items():
        (tmp_path / name).write_text("\n".join(words.split()))
    with tf.Session() as session:
        session.run(matrix.initializer)
        return tf.train.Saver([matrix]).save(session, str(tmp_path / "model"))


def _numbered(shape):
    return tf.reshape(tf.range(1.0, tf.cast(tf.reduce_prod(shape), tf.float32) + 1.0), shape)


def _value(tensor):
    with tf.Session() as session:
        return session.run(tensor).tolist()


def test_rows_and_columns_come_in_a_new_order(checkpoint, tmp_path):
    initializer = tf.contrib.framework.load_and_remap_matrix_initializer(
        checkpoint,
        "matrix",
        3,
        3,
        old_row_vocab_file=str(tmp_path / "old_rows"),
        new_row_vocab_file=str(tmp_path / "new_rows"),
        old_col_vocab_file=str(tmp_path / "old_columns"),
        new_col_vocab_file=str(tmp_path / "new_columns"),
        num_row_oov_buckets=1,
        initializer=_numbered,
    )
    assert _value(initializer([4, 3])) == [[10, 12, 1], [2, 3, 4], [0, 2, 5], [1, 2, 3]]
    with pytest.raises(ValueError, match="Expected 2nd dim"):
        initializer([4, 2])
    with pytest.raises(TypeError, match="only float32"):
        initializer([4, 3], tf.float64)


def test_embeddings_of_new_words_are_initialized(checkpoint, tmp_path):
    files = str(tmp_path / "old_rows"), str(tmp_path / "new_rows")
    initializer = tf.contrib.framework.load_embedding_initializer(
        checkpoint, "matrix", 3, 3, *files, initializer=lambda shape: tf.fill(shape, 7.0)
    )
    assert _value(initializer([3, 3])) == [[10, 11, 12], [7, 7, 7], [0, 1, 2]]


def test_files_come_in_pairs(checkpoint):
    load = tf.contrib.framework.load_and_remap_matrix
    with pytest.raises(ValueError, match="must both be specified"):
        load(checkpoint, "matrix", 0, 3, 3, _numbered, old_row_vocab_file="a")
    with pytest.raises(ValueError, match="Must provide either row or column vocab files"):
        load(checkpoint, "matrix", 0, 3, 3, _numbered)
    with pytest.raises(ValueError, match="num_row_oov_buckets must be >= 0"):
        load(checkpoint, "matrix", 0, 3, 3, _numbered, num_row_oov_buckets=-1)


def test_biases_and_slots_of_new_classes_are_those_of_the_old_ones(checkpoint, tmp_path):
    files = str(tmp_path / "old_rows"), str(tmp_path / "new_rows")
    column = tf.contrib.framework.load_linear_multiclass_bias_initializer(
        checkpoint, "column", 3, *files, num_class_oov_buckets=1, initializer=_numbered
    )
    with tf.Graph().as_default(), tf.Session() as session:
        biases = tf.Variable([[1.0], [2.0], [3.0]], name="column")
        session.run(biases.initializer)
        tf.train.Saver([biases]).save(session, checkpoint)
        assert session.run(column([4, 1])).tolist() == [[2], [1], [1], [1]]
        part = tf.contrib.framework.load_variable_slot_initializer(
            checkpoint, "column", PartitionInfo([3, 1], [2, 0]), 3, 1, *files
        )
        assert session.run(part([1, 1])).tolist() == [[1]]

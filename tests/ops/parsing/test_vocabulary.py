"""GenerateVocabRemapping and LoadAndRemapMatrix; recorded values are in tests/saver/test_warm_start.py."""

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops


@pytest.fixture
def vocabularies(tmp_path):
    for name, text in {"old": "a\nb\nc\n", "new": "c\nx\na\nb"}.items():
        (tmp_path / name).write_text(text)
    return str(tmp_path / "new"), str(tmp_path / "old")


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default():
        tf.get_variable("m", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
        tf.get_variable("v", initializer=np.arange(3, dtype=np.float32))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return tf.train.Saver().save(session, str(tmp_path / "ck"))


@pytest.mark.parametrize(
    ("offset", "count", "size", "remapping"),
    [(0, 4, -1, [2, -1, 0, 1]), (1, 2, -1, [-1, 0]), (0, 4, 2, [-1, -1, 0, 1]), (0, 0, -1, [])],
)
def test_lines_are_found_in_the_old_vocabulary(vocabularies, offset, count, size, remapping):
    found = ops.generate_vocab_remapping(
        *vocabularies, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=size
    )
    assert found[0].shape == [count]
    with tf.Session() as session:
        numbers, present = session.run(list(found))
    assert numbers.dtype == np.int64
    assert numbers.tolist() == remapping
    assert present.dtype == np.int32
    assert present == sum(number >= 0 for number in remapping)


@pytest.mark.parametrize(("offset", "count", "size"), [(0, 9, -1), (3, 2, -1), (9, 1, -1), (0, 4, 9)])
def test_vocabularies_that_are_too_short(vocabularies, offset, count, size):
    found = ops.generate_vocab_remapping(
        *vocabularies, new_vocab_offset=offset, num_new_vocab=count, old_vocab_size=size
    )
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError):
        session.run(found[0])


def loaded(checkpoint, rows, columns, values, shape, name="m"):
    tensor = ops.load_and_remap_matrix(
        checkpoint,
        name,
        tf.constant(rows, tf.int64),
        tf.constant(columns, tf.int64),
        tf.constant(values, tf.float32),
        num_rows=shape[0],
        num_cols=shape[1],
    )
    with tf.Session() as session:
        return session.run(tensor)


def test_rows_and_columns_come_in_their_new_order(checkpoint):
    np.testing.assert_array_equal(loaded(checkpoint, [1, 0, 3], [], [], (3, 3)), [[3, 4, 5], [0, 1, 2], [9, 10, 11]])
    np.testing.assert_array_equal(
        loaded(checkpoint, [1, -1], [2, -1, 0], [1, 2, 3, 4], (2, 3)), [[5, 1, 3], [2, 3, 4]]
    )
    assert loaded([checkpoint], [], [], [], (0, 3)).shape == (0, 3)


@pytest.mark.parametrize(
    ("rows", "columns", "values", "shape", "name", "error", "text"),
    [
        ([1, -1], [], [1], (2, 3), "m", tf.errors.InvalidArgumentError, "more missing values remain"),
        ([1, -1], [], [1, 2, 3, 4], (2, 3), "m", tf.errors.InvalidArgumentError, "but only 3 elements were used"),
        ([1, 0], [], [], (3, 3), "m", tf.errors.InvalidArgumentError, "Size of row_remapping is 2"),
        ([1], [0, 1], [], (1, 3), "m", tf.errors.InvalidArgumentError, "Provided col_remapping, but its size is 2"),
        ([9], [], [], (1, 3), "m", tf.errors.InvalidArgumentError, "9, which is not in"),
        ([0], [0, 1, 9], [], (1, 3), "m", tf.errors.InvalidArgumentError, "9, which is not in"),
        ([1, 1], [], [], (2, 3), "m", tf.errors.UnimplementedError, "Old ID 1 is mapped to both new ID 0 and 1"),
        ([0], [], [], (1, 3), "none", tf.errors.NotFoundError, "none"),
        ([0], [], [], (1, 3), "v", tf.errors.InvalidArgumentError, "rank"),
        ([0], [], [], (1, 2), "m", tf.errors.InvalidArgumentError, "instead of being equal to num_cols=2"),
    ],
)
def test_what_does_not_fit_is_named(checkpoint, rows, columns, values, shape, name, error, text):
    with pytest.raises(error, match=text):
        loaded(checkpoint, rows, columns, values, shape, name)


def test_a_checkpoint_that_is_not_there(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        loaded(str(tmp_path / "none"), [0], [], [], (1, 3))

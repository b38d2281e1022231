"""Tables that programs change: their errors, and checkpoints. Values and graphs are compared in programs/snippets."""

import pytest

import stillflow as tf


def _numbers(*values):
    return tf.constant(values, tf.int64)


def _unknown(value):
    """A tensor of which graphs do not know the shape."""
    return tf.placeholder_with_default(tf.constant(value, tf.int64), None)


def test_checkpoints_have_tables(tmp_path):
    with tf.Graph().as_default():
        words = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="words")
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.float32, [0.0, 0.0], 0, -1, 4, name="dense")
        own = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1, name="own", checkpoint=False)
        fill = [
            words.insert(tf.constant(["a", "b"]), _numbers(1, 2)), own.insert(tf.constant(["a"]), _numbers(5)),
            dense.insert(_numbers(7, 8), [[1.0, 2.0], [3.0, 4.0]]),
        ]  # fmt: skip
        read = [words.lookup(tf.constant(["b", "c"])), dense.lookup(_numbers(8, 9)), own.lookup(tf.constant(["a"]))]
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(fill)
            path = saver.save(session, str(tmp_path / "model"))
        with tf.Session() as session:
            saver.restore(session, path)
            found = [value.tolist() for value in session.run(read)]
    assert found == [[2, -1], [[3.0, 4.0], [0.0, 0.0]], [-1]]
    names = [name for name, _ in tf.train.list_variables(path)]
    assert names == ["dense-keys", "dense-values", "words-keys", "words-values"]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda dense, words: dense.insert(_numbers(0), _numbers(1)), "Using the empty_key as a table key"),
        (lambda dense, words: dense.lookup(_numbers(-2)), "Using the deleted_key as a table key"),
        (lambda dense, words: words.insert(tf.constant(["a"]), _numbers(1, 2)), r"Expected shape \[1\] for value"),
        (lambda dense, words: tf.raw_ops.LookupTableImportV2(
            table_handle=dense.resource_handle, keys=_unknown([[1]] * 5), values=_unknown([[1]] * 5)
        ), "Number of buckets must be at least 4 and a power of 2, got: 5"),
    ],
)  # fmt: skip
def test_errors_are_those_of_tensorflow(change, text):
    with tf.Graph().as_default(), tf.Session() as session:
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2, 4)
        words = tf.contrib.lookup.MutableHashTable(tf.string, tf.int64, -1)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(change(dense, words))


def test_a_full_table_grows():
    with tf.Graph().as_default(), tf.Session() as session:
        dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -2, 4)
        keys = tf.range(tf.constant(1, tf.int64), 1001)
        session.run(dense.insert(keys, keys * 2))
        session.run(dense.erase(keys[::2]))
        assert session.run(dense.size()) == 500
        assert session.run(dense.lookup(_numbers(1, 2, 999, 1000))).tolist() == [-1, 4, -1, 2000]

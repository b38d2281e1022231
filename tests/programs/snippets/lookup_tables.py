"""tf.lookup: tables filled from tensors."""

import contextlib
import itertools
import uuid


@contextlib.contextmanager
def _counted_names():
    """The nodes' shared names are made of random numbers; in this context these are 0, 1, ..."""
    numbers = itertools.count()
    saved, uuid.uuid4 = uuid.uuid4, lambda: next(numbers)
    try:
        yield
    finally:
        uuid.uuid4 = saved


def _table(tf, keys, values, default, **options):
    with _counted_names():
        return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default, **options)


def words(tf):
    table = _table(tf, ["a", "b", "c"], tf.constant([1, 2, 3], tf.int64), -1)
    table.lookup(tf.constant(["b"]))
    table.size()
    table.export()
    with tf.control_dependencies([tf.tables_initializer()]):
        keys = tf.constant([["b", "z"], ["c", ""]])
        return [table.lookup(keys), table.size(name="n")]


def sparse_words(tf):
    table = _table(tf, ["a", "b"], [1.5, 2.5], 0.0, name="named")
    words = tf.SparseTensor([[0, 0], [1, 2]], ["b", "x"], [2, 3])
    with tf.control_dependencies([table.initializer]):
        found = table.lookup(words)
        return [found.indices, found.values, found.dense_shape]


def texts_of_numbers(tf):
    table = _table(tf, tf.constant([7, 8], tf.int64), ["seven", "eight"], "unknown")
    with tf.control_dependencies([tf.initializers.tables_initializer(name="init")]):
        return [table.lookup(tf.constant([8, 9], tf.int64))]


def vocabularies(tf):
    with _counted_names():
        values = tf.constant([0, 1], tf.int64)
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], values, name="filled")
        table = tf.lookup.StaticVocabularyTable(initializer, 3)
        hashes = tf.lookup.StaticVocabularyTable(None, 5, name="hashes")
        numbers = tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(tf.constant([5, 6], tf.int64), values), 2, lookup_key_dtype=tf.int32
        )
    with tf.control_dependencies([table.initializer, numbers.initializer, hashes.initializer]):
        return [
            table.lookup(tf.constant(["b", "x", "y", "a"])), table.size(), hashes.lookup(tf.constant(["b", "x"])),
            hashes.size(name="n"), numbers.lookup(tf.constant([6, 9], tf.int32)),
        ]  # fmt: skip


def in_a_branch(tf):
    def look():
        table = _table(tf, ["a"], tf.constant([4], tf.int64), 0)
        return table.lookup(tf.constant(["a"]))

    found = tf.cond(tf.constant(False), look, lambda: tf.constant([9], tf.int64))
    return [found]


def of_a_file(tf):
    index = tf.lookup.TextFileIndex
    initializer = tf.lookup.TextFileInitializer("words.txt", tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    table = tf.lookup.StaticHashTable(initializer, -1)
    table.lookup(tf.constant(["a"]))
    columns = tf.lookup.TextFileInitializer(
        tf.constant("pairs.txt"), tf.int64, 0, tf.string, 1, vocab_size=5, delimiter=" ", name="columns"
    )
    tf.lookup.StaticHashTable(columns, "none", name="pairs")
    assert [len(tf.get_collection(key)) for key in ("table_initializer", "asset_filepaths")] == [2, 2]

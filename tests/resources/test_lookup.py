"""tf.lookup: tables from tensors and files, damaged files, wrong types, checkpoints. Graphs are in the snippets."""

import itertools
import threading

import numpy as np
import pytest

import stillflow as tf
from stillflow import ops
from stillflow.testing import new_session

WHOLE, NUMBER = tf.lookup.TextFileIndex.WHOLE_LINE, tf.lookup.TextFileIndex.LINE_NUMBER


def table_of(keys, values, default=-1):
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), default)


def table_of_file(path, key=(tf.string, WHOLE), value=(tf.int64, NUMBER), **options):
    initializer = tf.lookup.TextFileInitializer(str(path), *key, *value, **options)
    return tf.lookup.StaticHashTable(initializer, "" if value[0] is tf.string else -1)


def exported(table):
    with tf.Session() as session:
        session.run(table.initializer)
        keys, values = session.run(table.export())
        assert session.run(table.size()) == len(keys)
        return dict(zip(keys.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize(
    ("key", "value"),
    list(
        itertools.product(
            (tf.int32, tf.int64, tf.string, tf.float32, tf.bool),
            (tf.int32, tf.int64, tf.float32, tf.float64, tf.string, tf.bool, tf.uint8),
        )
    ),
)
def test_pairs_of_types_are_those_of_tensorflow(key, value):
    def numbers(dtype, values):
        return tf.constant([str(x) for x in values]) if dtype is tf.string else tf.cast(tf.constant(values), dtype)

    has_kernel = value in {
        tf.int32: (tf.int32, tf.float32, tf.float64, tf.string),
        tf.int64: (tf.int32, tf.int64, tf.float32, tf.float64, tf.string),
        tf.string: (tf.int32, tf.int64, tf.float32, tf.float64, tf.string, tf.bool),
    }.get(key, ())
    with new_session() as session:
        default = {tf.string: "", tf.bool: False}.get(value, 0)
        table = table_of(numbers(key, [3, 4]), numbers(value, [1, 0]), default)
        if not has_kernel:
            with pytest.raises(tf.errors.InvalidArgumentError, match="No OpKernel"):
                session.run(table.initializer)
            return
        session.run(table.initializer)
        found = session.run(table.lookup(numbers(key, [4, 3, 9]))).tolist()
        expected = {tf.string: [b"0", b"1", b""], tf.bool: [False, True, False]}.get(value, [0, 1, 0])
        assert found == expected


def test_tables_are_filled_once():
    with new_session() as session:
        keys, values = tf.placeholder(tf.string), tf.placeholder(tf.int32)
        table = table_of(keys, values)
        found = table.lookup(tf.constant(["a", "b"]))
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            session.run(found)
        with pytest.raises(tf.errors.FailedPreconditionError, match="Key a has 1 and trying to add value 2"):
            session.run(table.initializer, {keys: ["a", "a"], values: [1, 2]})
        assert session.run(table.size()) == 0  # as in TensorFlow, nothing of what failed is in the table
        session.run(table.initializer, {keys: ["a"], values: [1]})
        session.run(table.initializer, {keys: ["z"], values: [5]})
        assert session.run(found).tolist() == [1, -1]
        with pytest.raises(tf.errors.FailedPreconditionError, match="different data"):
            session.run(table.initializer, {keys: ["a", "b"], values: [1, 2]})
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[2\] for value, got \[1\]"):
            session.run(table.initializer, {keys: ["a", "b"], values: [1]})


def test_files_are_read_by_line_and_by_column(tmp_path):
    lines, columns = tmp_path / "lines", tmp_path / "columns"
    lines.write_text("a\nb\r\nc")
    columns.write_text("x\t1\t0.5\ny\t-2\t1e3\n")
    with tf.Graph().as_default():
        assert exported(table_of_file(lines)) == {b"a": 0, b"b": 1, b"c": 2}
        assert exported(table_of_file(lines, vocab_size=2)) == {b"a": 0, b"b": 1}
        assert exported(table_of_file(lines, (tf.int64, NUMBER), (tf.string, WHOLE))) == {0: b"a", 1: b"b", 2: b"c"}
        assert exported(table_of_file(columns, (tf.string, 0), (tf.int64, 1))) == {b"x": 1, b"y": -2}
        assert exported(table_of_file(columns, (tf.int64, 1), (tf.float32, 2))) == {1: 0.5, -2: 1000}
        assert exported(table_of_file(columns, (tf.int64, NUMBER), (tf.string, 0))) == {0: b"x", 1: b"y"}
        pairs = tmp_path / "pairs"
        pairs.write_text("1 2\n3 4\n")
        assert exported(table_of_file(pairs, (tf.int64, 0), (tf.int64, 1), delimiter=" ")) == {1: 2, 3: 4}


@pytest.mark.parametrize(
    ("content", "arguments", "error", "message"),
    [
        ("a\n\nb", {}, tf.errors.InvalidArgumentError, "empty line found at position 3"),
        ("a\nb", {"vocab_size": 9}, tf.errors.InvalidArgumentError, "expected 9 but got 2"),
        ("", {}, tf.errors.OutOfRangeError, "Read less bytes than requested"),
        ("a\na", {}, tf.errors.FailedPreconditionError, "Key a has 0 and trying to add value 1"),
        ("a\tq", {"key": (tf.string, 0), "value": (tf.int64, 1)}, tf.errors.InvalidArgumentError,
         "Field q in line 0 is not a valid int64"),
        ("a\tq", {"key": (tf.string, 0), "value": (tf.string, 2)}, tf.errors.InvalidArgumentError,
         r"line 0 \(a\tq\) : expected 2 got 2"),
        ("a", {"delimiter": ",,"}, tf.errors.InvalidArgumentError, "only 1 char"),
        (None, {}, tf.errors.NotFoundError, "No such file"),
    ],
)  # fmt: skip
def test_damaged_files_are_named(tmp_path, content, arguments, error, message):
    path = tmp_path / "words"
    if content is not None:
        path.write_text(content)
    with new_session() as session:
        table = table_of_file(path, **arguments)
        with pytest.raises(error, match=message):
            session.run(table.initializer)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: table_of(["a"], [1]).lookup(tf.constant([1])), TypeError, "Signature mismatch"),
        (lambda: table_of([["a"]], [[1]]), ValueError, "rank"),
        (lambda: table_of(["a"], [1, 2]), ValueError, "Dimension|shape"),
        (lambda: table_of(["a"], [1], [1, 2]), ValueError, "compatible|rank"),
        (lambda: table_of_file(""), ValueError, "Filename required"),
        (lambda: table_of_file("x", (tf.string, -3)), ValueError, "Invalid key index"),
        (lambda: table_of_file("x", (tf.string, NUMBER)), ValueError, "Keys must be dtype"),
        (lambda: table_of_file("x", (tf.float32, WHOLE)), ValueError, "integer or string"),
        (lambda: table_of_file("x", value=(tf.int64, WHOLE)), ValueError, "Values must be dtype"),
        (lambda: table_of_file("x", value=(tf.string, NUMBER)), ValueError, "Values must be dtype"),
        (lambda: table_of_file("x", vocab_size=0), ValueError, "vocab_size"),
        (lambda: tf.lookup.StaticVocabularyTable(None, 0), ValueError, "oov_buckets"),
        (lambda: tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), 1), TypeError,
         "value dtype"),
        (lambda: tf.lookup.KeyValueTensorInitializer(["a"], [1]).initialize(table_of(["a"], ["b"], "")), TypeError,
         "Invalid value dtype"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(build, error, message):
    with tf.Graph().as_default(), pytest.raises(error, match=message):
        build()


def test_handles_of_other_types_are_refused():
    with new_session() as session:
        for handle in (
            ops.hash_table_v2(key_dtype=tf.string, value_dtype=tf.int32),
            ops.hash_table(key_dtype=tf.string, value_dtype=tf.int32),
        ):
            suffix = "_v2" if handle.dtype is tf.resource else ""
            initialize = getattr(ops, "initialize_table" + suffix)
            find = getattr(ops, "lookup_table_find" + suffix)
            export = getattr(ops, "lookup_table_export" + suffix)
            with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
                session.run(initialize(handle, [1], [1]))
            session.run(initialize(handle, ["a"], [1]))
            assert session.run(find(handle, ["a", "b"], 7)).tolist() == [1, 7]
            for wrong in (
                find(handle, ["a"], 1.0),
                find(handle, [1], 1),
                export(handle, Tkeys=tf.int32, Tvalues=tf.int32),
            ):
                with pytest.raises(tf.errors.InvalidArgumentError, match="Signature mismatch"):
                    session.run(wrong)
        queue = tf.FIFOQueue(1, [tf.string])
        with pytest.raises(tf.errors.OpError):
            session.run(ops.lookup_table_size_v2(queue.queue_ref))


def test_many_threads_read_one_table():
    with new_session() as session:
        keys = [str(i) for i in range(1000)]
        table = table_of(keys, np.arange(1000))
        found = table.lookup(tf.constant(keys))
        session.run(tf.tables_initializer())
        failures = []

        def read():
            for _ in range(20):
                if session.run(found).tolist() != list(range(1000)):
                    failures.append(1)

        threads = [threading.Thread(target=read) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        assert not failures


def test_graphs_with_tables_are_exported_and_run(tmp_path):
    words = tmp_path / "words"
    words.write_text("a\nb\n")
    with tf.Graph().as_default(), tf.Session() as session:
        table = table_of_file(words)
        keys = tf.placeholder(tf.string, [None], name="keys")
        table.lookup(keys, name="found")
        builder = tf.saved_model.builder.SavedModelBuilder(str(tmp_path / "model"))
        builder.add_meta_graph_and_variables(
            session, ["serve"], assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )  # fmt: skip
        builder.save()
    words.unlink()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "model"))
        assert session.run("found/LookupTableFindV2:0", {"keys:0": ["b", "x"]}).tolist() == [1, -1]

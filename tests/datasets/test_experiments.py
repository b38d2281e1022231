"""What tf.data.experimental reads, writes, measures and saves."""

import sqlite3

import numpy as np
import pytest

import stillflow as tf
from stillflow.traced_functions.map_defun import map_defun

experimental = tf.data.experimental


def elements(dataset):
    with tf.Session() as session:
        element = dataset.make_one_shot_iterator().get_next()
        found = []
        while True:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found


def test_rows_of_a_database(tmp_path):
    path = str(tmp_path / "people.sqlite")
    with sqlite3.connect(path) as database:
        database.execute("create table people (name text, age integer, height real, big integer)")
        rows = [("Ada", 36, 1.65, 2**40), ("Kurt", -300, None, 1)]
        database.executemany("insert into people values (?, ?, ?, ?)", rows)
    query = "select name, age, height, big, age, name from people order by name"
    types = (tf.string, tf.int32, tf.float64, tf.int64, tf.uint8, tf.int16)
    found = elements(experimental.SqlDataset("sqlite", path, query, types))
    assert found == [(b"Ada", 36, 1.65, 2**40, 36, 0), (b"Kurt", -300, 0.0, 1, 212, 0)]
    for arguments, kind, message in (
        (("oracle", path, query), tf.errors.InvalidArgumentError, "The database type, oracle, is not supported"),
        (("sqlite", path, "select name from people"), tf.errors.InvalidArgumentError, r"columns in query \(1\)"),
        (("sqlite", path, "select"), tf.errors.UnknownError, "incomplete input"),
    ):
        with pytest.raises(kind, match=message):
            elements(experimental.SqlDataset(*arguments, types))


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_records_are_written_and_read(tmp_path, compression):
    path = str(tmp_path / "records")
    words = tf.data.Dataset.from_tensor_slices(["a", "", "c" * 1000])
    with tf.Session() as session:
        session.run(experimental.TFRecordWriter(path, compression).write(words))
    assert elements(tf.data.TFRecordDataset(path, compression)) == [b"a", b"", b"c" * 1000]
    with pytest.raises(TypeError, match="must produce scalar `DT_STRING` tensors"):
        experimental.TFRecordWriter(path).write(tf.data.Dataset.range(3))


def test_batches_of_examples(tmp_path):
    path = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for i in range(5):
            feature = {
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "w": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x"] * i)),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())
    features = {"n": tf.FixedLenFeature([], tf.int64), "w": tf.VarLenFeature(tf.string)}
    dataset = experimental.make_batched_features_dataset(
        path, 2, features, label_key="n", num_epochs=1, shuffle=False
    )
    found = elements(dataset)
    assert [label.tolist() for _, label in found] == [[0, 1], [2, 3], [4]]
    assert [batch["w"].dense_shape.tolist() for batch, _ in found] == [[2, 1], [2, 3], [1, 4]]
    with pytest.raises(TypeError, match="vectors of strings"):
        tf.data.Dataset.range(2).apply(experimental.parse_example_dataset(features))


def test_aggregators_tell_what_was_measured():
    aggregator = experimental.StatsAggregator()
    dataset = tf.data.Dataset.range(4).map(lambda n: tf.fill([n], 1.0))
    dataset = dataset.apply(experimental.bytes_produced_stats("bytes")).apply(experimental.latency_stats("time"))
    options = tf.data.Options()
    options.experimental_stats.aggregator = aggregator
    options.experimental_stats.prefix = "a"
    options.experimental_threading.private_threadpool_size = 2
    iterator = dataset.prefetch(2).with_options(options).make_initializable_iterator()
    summary, element = aggregator.get_summary(), iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for _ in range(4):
            session.run(element)
        found = {value.tag: value.histo for value in tf.Summary.FromString(session.run(summary)).value}
    assert sorted(found) == ["a::bytes", "a::time"]
    assert (found["a::bytes"].num, found["a::bytes"].sum) == (4, 24.0)
    assert found["a::time"].num == 4 and found["a::time"].min >= 0


def test_devices_and_threads_change_nothing():
    dataset = tf.data.Dataset.range(3)
    assert elements(dataset.apply(experimental.copy_to_device("/cpu:0"))) == [0, 1, 2]
    assert elements(dataset.apply(experimental.prefetch_to_device("/gpu:0", 2))) == [0, 1, 2]
    legacy = dataset.map_with_legacy_function(lambda n: n + 1).filter_with_legacy_function(lambda n: n > 1)
    assert elements(legacy) == [2, 3]


def test_saved_positions_are_gone_to_without_an_initializer(tmp_path):
    def build():
        dataset = tf.data.Dataset.range(100).shuffle(7, seed=3).apply(experimental.unique()).batch(2)
        iterator = dataset.make_initializable_iterator()
        saveable = experimental.make_saveable_from_iterator(iterator)
        return iterator, iterator.get_next(), tf.train.Saver([saveable])

    path = str(tmp_path / "input")
    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element, saver = build()
        session.run(iterator.initializer)
        first = [session.run(element).tolist() for _ in range(3)]
        saver.save(session, path)
        rest = [session.run(element).tolist() for _ in range(3)]
    with tf.Graph().as_default(), tf.Session() as session:
        iterator, element, saver = build()
        saver.restore(session, path)
        assert [session.run(element).tolist() for _ in range(3)] == rest
        session.run(iterator.initializer)
        assert [session.run(element).tolist() for _ in range(3)] == first


def test_a_position_belongs_to_one_pipeline(tmp_path):
    path = str(tmp_path / "input")
    for make, expected in (
        (tf.data.Dataset.range, None),
        (lambda n: tf.data.Dataset.range(n).repeat(), "goes through"),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            iterator = make(5).make_initializable_iterator()
            saver = tf.train.Saver([experimental.make_saveable_from_iterator(iterator)])
            session.run(iterator.initializer)
            if expected is None:
                saver.save(session, path)
            else:
                with pytest.raises(tf.errors.FailedPreconditionError, match=expected):
                    saver.restore(session, path)


def test_optionals_are_added():
    some = experimental.Optional.from_value((np.float32(1), [1, 2]))
    none = experimental.Optional.none_from_structure(some.value_structure)
    with tf.Session() as session:
        zeros = tf.zeros_like(some._variant_tensor)
        total = tf.add_n([some._variant_tensor, some._variant_tensor, zeros])
        value = type(some)(total, some.value_structure).get_value()
        number, numbers = session.run(value)
        assert number == 2 and numbers.tolist() == [2, 4]
        with pytest.raises(tf.errors.InvalidArgumentError, match="one has a value and the other doesn't"):
            session.run(tf.add_n([some._variant_tensor, none._variant_tensor]).op)


def test_functions_of_rows():
    offset = tf.constant(10)

    @tf.contrib.eager.defun(input_signature=[tf.TensorSpec([2], tf.int32), tf.TensorSpec([], tf.float32)])
    def function(row, scale):
        return tf.reduce_sum(row) + offset, tf.cast(row, tf.float32) * scale

    rows, scales = np.array([[1, 2], [3, 4], [5, 6]], np.int32), np.array([1, 0.5, 2], np.float32)
    sums, scaled = map_defun(function, [rows, scales], [tf.int32, tf.float32], [[], [2]])
    assert sums.shape.as_list() == [3] and scaled.shape.as_list() == [3, 2]
    with tf.Session() as session:
        assert session.run(sums).tolist() == [13, 17, 21]
        assert session.run(scaled).tolist() == [[1, 2], [1.5, 2], [10, 12]]
        none = map_defun(function, [rows[:0], scales[:0]], [tf.int32, tf.float32], [[], [2]])
        assert [value.shape for value in session.run(none)] == [(0,), (0, 2)]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Input 1 has leading dimension 2"):
            session.run(map_defun(function, [rows, scales[:2]], [tf.int32, tf.float32], [[], [2]]))


def test_windows_as_batches_and_shapes_that_are_checked():
    numbers = tf.data.Dataset.range(7)
    windows = numbers.apply(tf.contrib.data.sliding_window_batch(3, window_shift=2, window_stride=2))
    assert [window.tolist() for window in elements(windows)] == [[0, 2, 4], [2, 4, 6]]
    rows = numbers.map(lambda n: tf.fill([n + 1], n)).apply(tf.contrib.data.assert_element_shape(tf.TensorShape([1])))
    assert tf.data.get_output_shapes(rows).as_list() == [1]
    assert elements(rows.take(1))[0].tolist() == [0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Wrong shape"):
        elements(rows)
    reducer = experimental.Reducer(lambda _: np.int64(1), lambda state, n: state + n, lambda state: state)
    with tf.Session() as session:
        assert session.run(tf.contrib.data.reduce_dataset(numbers, reducer)) == 22

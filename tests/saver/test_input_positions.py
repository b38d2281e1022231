"""Where iterators are is part of a checkpoint: restored in another session, they bring the same rest."""

import gzip
import subprocess
import sys

import numpy as np
import pytest

import stillflow as tf

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def in_own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def _rows():
    return Dataset.from_tensor_slices((np.arange(24.0).reshape(12, 2), [f"text {i}" for i in range(12)]))


def _without_rewrites(dataset):
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    return dataset.with_options(options)


def _ragged():
    return Dataset.from_tensors([1]).concatenate(Dataset.from_tensors([2, 3])).repeat(3)


def _files(make, data):
    for i, content in enumerate(data):
        with open(f"file{i}", "wb") as file:
            file.write(content)
    return make([f"file{i}" for i in range(len(data))])


def _records():
    for i in range(2):
        with tf.python_io.TFRecordWriter(f"file{i}") as writer:
            for record in range(3):
                writer.write(b"record %d %d" % (i, record))
    return tf.data.TFRecordDataset(["file0", "file1"])


PIPELINES = {
    "lines": lambda: _files(tf.data.TextLineDataset, [b"one\r\ntwo\n", b"", b"three\nfour"]),
    "compressed lines": lambda: _files(
        lambda names: tf.data.TextLineDataset(names, "GZIP"), [gzip.compress(b"one\ntwo"), gzip.compress(b"three")]
    ),
    "records of one length": lambda: _files(
        lambda names: tf.data.FixedLengthRecordDataset(names, 2, 1, 1), [b"HaabbF", b"HccF"]
    ),
    "records": lambda: _records().shuffle(3),
    "functions": lambda: _rows()
    .map(lambda row, text: (row * tf.random_uniform([2], seed=3, dtype=tf.float64), text))
    .batch(2),
    "filter": lambda: Dataset.range(20).filter(lambda n: n % 3 > 0).shuffle(4).repeat(2),
    "flat map": lambda: Dataset.range(3)
    .shuffle(3)
    .flat_map(lambda n: Dataset.range(n + 1).shuffle(2, seed=5))
    .repeat(2),
    "interleave": lambda: Dataset.range(4).interleave(lambda n: Dataset.range(n).shuffle(3, seed=5), 2, 2),
    "parallel map": lambda: Dataset.range(9).shuffle(3).map(lambda n: n * n, num_parallel_calls=2).prefetch(2),
    "windows": lambda: (
        Dataset.range(7).shuffle(4).window(3, 2, drop_remainder=True).flat_map(lambda window: window.batch(3))
    ),
    "shuffled windows": lambda: Dataset.range(8).window(2).shuffle(2, seed=1).flat_map(lambda window: window),
    "sparse": lambda: Dataset.from_tensor_slices(tf.SparseTensor([[0, 1], [2, 0], [3, 1]], [1.0, 2.0, 3.0], [4, 2]))
    .shuffle(3)
    .map(tf.sparse.to_dense),
    "tensors": lambda: Dataset.from_tensors({"a": [1, 2], "b": "x"}).repeat(3),
    "slices": _rows,
    "range": lambda: Dataset.range(5, -3, -2),
    "take and skip": lambda: _rows().take(9).skip(3),
    "shard": lambda: _rows().shard(5, 3),
    "zip": lambda: Dataset.zip((Dataset.range(4), {"b": _rows().shuffle(3, seed=1)})),
    "concatenate": lambda: Dataset.range(3).concatenate(Dataset.range(5, 7)).concatenate(Dataset.range(1)),
    "repeat": lambda: Dataset.range(3).repeat(3),
    "shuffle": lambda: _rows().shuffle(5, seed=3),
    "unseeded shuffle": lambda: _rows().shuffle(5),
    "unseeded shuffle and repeat": lambda: _rows().shuffle(5).repeat(3),
    "one order for all passes": lambda: Dataset.range(6).shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3),
    "passes in different orders": lambda: _without_rewrites(Dataset.range(6).shuffle(4, seed=3).repeat(3)),
    "shuffles of shuffles": lambda: Dataset.range(6).shuffle(2).batch(2).shuffle(2).take(9).repeat(2),
    "shuffle and repeat": lambda: Dataset.range(5).apply(tf.data.experimental.shuffle_and_repeat(40, 4)),
    "batch": lambda: _rows().batch(5),
    "batch without remainder": lambda: _rows().repeat(2).batch(5, drop_remainder=True),
    "padded batch": lambda: _ragged().padded_batch(4, [None], -1),
    "cache": lambda: Dataset.range(4).shuffle(4).cache().repeat(3),
    "cache of part of a pass": lambda: Dataset.range(9).shuffle(9).cache().take(3).repeat(3),
    "file cache": lambda: Dataset.range(4).cache("cached").repeat(3),
    "prefetch": lambda: _rows().shuffle(4).prefetch(3),
    "prefetch that fills itself": lambda: Dataset.range(30).shuffle(9).prefetch(None).batch(4),
    "training input": lambda: _rows().shuffle(7).repeat(2).batch(5).prefetch(1),
}


def _plain(value):
    return tf.nest.map_structure(lambda part: part.tolist() if isinstance(part, np.ndarray) else part, value)


def _rest(session, element):
    found = []
    try:
        while True:
            found.append(_plain(session.run(element)))
    except tf.errors.OutOfRangeError:
        return found


@pytest.mark.parametrize("name", PIPELINES)
def test_the_rest_is_the_same_from_every_position(name):
    iterator = PIPELINES[name]().make_initializable_iterator()
    element = iterator.get_next()
    step = tf.Variable(0, name="step")
    saver = tf.train.Saver(max_to_keep=None)
    found = []
    with tf.Session() as session:
        session.run([step.initializer, iterator.initializer])
        while True:
            saver.save(session, f"./m-{len(found)}", write_meta_graph=False)
            try:
                found.append(_plain(session.run(element)))
            except tf.errors.OutOfRangeError:
                break
    assert len(found) > 1
    for count in range(len(found)):
        with tf.Session() as session:
            saver.restore(session, f"./m-{count}")
            session.run(iterator.initializer)
            assert _rest(session, element) == found[count:], count
            if count % 2:  # and in a session that has been elsewhere, without another beginning
                session.run(iterator.initializer)
                session.run(element)
                saver.restore(session, f"./m-{count}")
                assert _rest(session, element) == found[count:], count


def test_a_one_shot_iterator_goes_on():
    element = Dataset.range(7).shuffle(4).make_one_shot_iterator().get_next()
    step = tf.Variable(0, name="step")
    saver = tf.train.Saver()
    with tf.Session() as session:
        session.run(step.initializer)
        session.run([element])
        saver.save(session, "./m")
        rest = _rest(session, element)
        saver.save(session, "./end")
        saver.restore(session, "./m")
        assert _rest(session, element) == rest
    with tf.Session() as session:
        saver.restore(session, "./m")
        assert _rest(session, element) == rest
        saver.restore(session, "./end")
        assert _rest(session, element) == []
    with tf.Session() as session:
        saver.restore(session, "./end")
        assert _rest(session, element) == []


def test_what_was_at_its_end_begins_anew():
    iterator = Dataset.range(2).make_initializable_iterator()
    element = iterator.get_next()
    step = tf.Variable(0, name="step")
    with tf.Session() as session:
        session.run([step.initializer, iterator.initializer])
        assert _rest(session, element) == [0, 1]
        tf.train.Saver().save(session, "./m")
    with tf.Session() as session:
        tf.train.Saver().restore(session, "./m")
        session.run(iterator.initializer)
        assert _rest(session, element) == [0, 1]
        tf.train.Saver().restore(session, "./m")
        assert _rest(session, element) == []


def test_without_random_state_there_is_no_position():
    iterator = Dataset.range(3).make_initializable_iterator()
    element = iterator.get_next()
    step = tf.Variable(0, name="step")
    with tf.Session() as session:
        session.run([step.initializer, iterator.initializer])
        session.run(element)
        tf.train.Saver(save_random_state=False).save(session, "./without")
        tf.train.Saver().save(session, "./with")
    with tf.Session() as session:
        tf.train.Saver().restore(session, "./without")
        session.run(iterator.initializer)
        assert _rest(session, element) == [0, 1, 2]
        tf.train.Saver(save_random_state=False).restore(session, "./with")
        assert _rest(session, element) == []


def test_a_position_of_another_pipeline_is_not_restored(caplog):
    def build(make):
        iterator = make(Dataset.range(6)).make_initializable_iterator()
        return iterator, iterator.get_next(), tf.Variable(0, name="step")

    with tf.Graph().as_default():
        iterator, element, step = build(lambda numbers: numbers.shuffle(4, seed=1).batch(2))
        with tf.Session() as session:
            session.run([step.initializer, iterator.initializer])
            session.run(element)
            tf.train.Saver().save(session, "./m")
    with tf.Graph().as_default():
        iterator, element, step = build(lambda numbers: numbers.batch(2))
        with tf.Session() as session, caplog.at_level("WARNING", "tensorflow"):
            tf.train.Saver().restore(session, "./m")
            assert "IteratorV2 goes through another pipeline" in caplog.text
            session.run(iterator.initializer)
            assert _rest(session, element) == [[0, 1], [2, 3], [4, 5]]
    with tf.Graph().as_default():  # other numbers of the same pipeline go on where they can
        iterator, element, step = build(lambda numbers: numbers.shuffle(2, seed=1).batch(3))
        with tf.Session() as session:
            tf.train.Saver().restore(session, "./m")
            session.run(iterator.initializer)
            assert len(_rest(session, element)) == 2


def test_random_state_and_snapshots_have_the_position():
    iterator = Dataset.range(9).shuffle(4).batch(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        snapshot = tf.Snapshot(session)
        session.run(iterator.initializer)
        session.run(element)
        snapshot.save()
        state = tf.random_state(session)
        rest = _rest(session, element)
        snapshot.restore()
        assert _rest(session, element) == rest
        snapshot.restore()
        assert _rest(session, element) == rest
    with tf.Session() as session:
        tf.random_state(session, state)
        session.run(iterator.initializer)
        assert _rest(session, element) == rest


def test_a_snapshot_from_before_the_beginning():
    iterator = Dataset.range(3).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        snapshot = tf.Snapshot(session)
        snapshot.save()
        session.run(iterator.initializer)
        session.run(element)
        snapshot.restore()
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            session.run(element)


def _position():
    """A graph's iterator and its position in the middle, as bytes."""
    iterator = _rows().shuffle(5, seed=1).repeat(2).batch(2).prefetch(2).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run([element])
        return iterator, element, tf.random_state(session)["states"]["IteratorV2"]


def test_damaged_positions_are_refused():
    iterator, element, position = _position()
    with tf.Session() as session:
        session.run(iterator.initializer)
        for i in range(0, len(position), 3):
            damaged = position[:i] + bytes([position[i] ^ 1 << i % 8]) + position[i + 1 :]
            for data in (damaged, position[:i] or b"x"):
                with pytest.raises(tf.errors.FailedPreconditionError, match="is not one of this op"):
                    tf.random_state(session, {"streams": {}, "states": {"IteratorV2": data}})
        assert len(_rest(session, element)) == 12


def test_positions_that_say_anything_are_errors_or_positions():
    """With a checksum that fits, anything may be said: it is an error, or some position, and never a crash."""
    import google_crc32c

    iterator, element, position = _position()
    generator = np.random.RandomState(0)
    outcomes = set()
    with tf.Session() as session:
        for _ in range(1500):
            damaged = bytearray(position[:-4])
            for _ in range(generator.randint(1, 4)):
                damaged[generator.randint(len(damaged))] = generator.choice([0, 1, 2, 127, 128, 255])
            if generator.rand() < 0.2:
                del damaged[generator.randint(len(damaged)) :]
            data = bytes(damaged) + google_crc32c.value(bytes(damaged)).to_bytes(4, "little")
            try:
                tf.random_state(session, {"streams": {}, "states": {"IteratorV2": data}})
                session.run(iterator.initializer)
                for _ in range(3):
                    session.run(element)
                outcomes.add("fine")
            except tf.errors.OpError as error:
                outcomes.add(type(error).__name__)
            tf.random_state(session, {"streams": {}, "states": {"IteratorV2": b""}})
    assert "fine" in outcomes
    assert outcomes <= {"fine", "DataLossError", "FailedPreconditionError", "OutOfRangeError", "InvalidArgumentError",
                        "ResourceExhaustedError"}  # fmt: skip


OTHER_PROCESS = """
import stillflow as tf
iterator = tf.data.Dataset.range(50).shuffle(20).repeat(2).batch(7).make_initializable_iterator()
element = iterator.get_next()
step = tf.Variable(0, name="step")
with tf.Session() as session:
    tf.train.Saver().restore(session, "./m")
    session.run(iterator.initializer)
    print([session.run(element).tolist() for _ in range(12)])
"""


def test_the_rest_is_the_same_in_another_process():
    iterator = Dataset.range(50).shuffle(20).repeat(2).batch(7).make_initializable_iterator()
    element = iterator.get_next()
    step = tf.Variable(0, name="step")
    with tf.Session() as session:
        session.run([step.initializer, iterator.initializer])
        for _ in range(3):
            session.run(element)
        tf.train.Saver().save(session, "./m")
        expected = [session.run(element).tolist() for _ in range(12)]
    result = subprocess.run([sys.executable, "-c", OTHER_PROCESS], capture_output=True, text=True, check=True)
    assert eval(result.stdout) == expected

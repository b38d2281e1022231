"""Readers: their records and keys, counts, states, and files that are not as they should be."""

import gzip
import threading
import zlib

import pytest

import stillflow as tf
from stillflow import ops


@pytest.fixture
def session():
    with tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=20_000)) as session:
        yield session


@pytest.fixture
def write(tmp_path):
    def write_file(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return write_file


def queue_of(session, names):
    q = tf.FIFOQueue(100, tf.string, [()])
    session.run(q.enqueue_many([names]))
    session.run(q.close())
    return q


def read_all(session, reader, names):
    """The records, errors in their places, and the counts of records and files after each."""
    read = reader.read(queue_of(session, names))
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    records = []
    while True:
        try:
            records.append((*session.run(read), *session.run(counts)))
        except tf.errors.OutOfRangeError as error:
            if "insufficient" in str(error):
                return records, session.run(counts)
            records.append(type(error))
        except tf.errors.OpError as error:
            records.append(type(error))


def test_lines(session, write):
    a, b, e = write("a", b"one\ntwo\r\nthree\n"), write("b", b"\nfo\rur\n\r\n\r\r\nfive\r"), write("e", b"")
    records, counts = read_all(session, tf.TextLineReader(), [a, e, b])
    a, b = a.encode(), b.encode()
    assert records == [
        (a + b":1", b"one", 1, 0), (a + b":2", b"two", 2, 0), (a + b":3", b"three", 3, 0),
        (b + b":1", b"", 4, 2), (b + b":2", b"fo\rur", 5, 2), (b + b":3", b"", 6, 2), (b + b":4", b"\r", 7, 2),
        (b + b":5", b"five", 8, 2),
    ]  # fmt: skip
    assert counts == [8, 3]


def test_long_lines_and_headers(session, write):
    lines = [b"x" * size for size in (0, 1, 262143, 262144, 262145, 700_000, 5)]
    path = write("long", b"\n".join(lines))
    records, _ = read_all(session, tf.TextLineReader(skip_header_lines=1), [path])
    assert [record[1] for record in records] == lines[1:]
    assert records[0][0].endswith(b"long:2")
    short, empty = write("short", b"only\n"), write("empty", b"")
    assert read_all(session, tf.TextLineReader(skip_header_lines=2), [short, empty]) == ([], [0, 2])


FIXED = {
    "plain": ((4,), [0, 4, 8, 12, 16, 20]),
    "header_and_footer": ((4, 3, 2), [3, 7, 11, 15, 19]),
    "gaps": ((4, 0, 0, 6), [0, 6, 12, 18]),
    "overlaps": ((4, 1, 1, 2), [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]),
    "too_short": ((30,), []),
    "all_is_footer": ((4, 2, 30), []),
    "far": ((1, 0, 0, 2**40), [0]),
}


@pytest.mark.parametrize("encoding", ["", "ZLIB", "GZIP"])
@pytest.mark.parametrize("case", FIXED)
def test_fixed_lengths(case, encoding, session, write):
    sizes, offsets = FIXED[case]
    data = bytes(range(25))
    stored = {"": bytes, "ZLIB": zlib.compress, "GZIP": gzip.compress}[encoding](data)
    path = write("data", stored)
    records, counts = read_all(session, tf.FixedLengthRecordReader(*sizes, encoding=encoding), [path, path])
    expected = [(f"{path}:{i}".encode(), data[at : at + sizes[0]]) for i, at in enumerate(offsets)]
    assert [record[:2] for record in records] == expected * 2
    assert counts == [2 * len(offsets), 2]


def test_whole_files_and_names(session, write):
    a, e = write("a", b"one\n\0two" * 100_000), write("e", b"")
    assert read_all(session, tf.WholeFileReader(), [a, e]) == (
        [(a.encode(), b"one\n\0two" * 100_000, 1, 1), (e.encode(), b"", 2, 2)],
        [2, 2],
    )
    assert read_all(session, tf.IdentityReader(), ["x", ""]) == ([(b"x", b"x", 1, 1), (b"", b"", 2, 2)], [2, 2])


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_records(compression, session, tmp_path):
    path, options = str(tmp_path / "records"), tf.python_io.TFRecordOptions(compression or None)
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in (b"a", b"bb", b""):
            writer.write(record)
    records, counts = read_all(session, tf.TFRecordReader(options=options), [path, path])
    expected = [(f"{path}:{at}".encode(), record) for at, record in ((0, b"a"), (17, b"bb"), (35, b""))]
    assert [record[:2] for record in records] == expected * 2
    assert counts == [6, 2]
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.TFRecordReader(options="LZ4")


def test_batches_end_with_files(session, write):
    a, b, e = write("a", b"1\n2\n3\n"), write("b", b"4\n5\n"), write("e", b"")
    reader = tf.TextLineReader()
    keys, values = reader.read_up_to(queue_of(session, [a, e, b, a]), 2)
    assert keys.shape.as_list() == values.shape.as_list() == [None]
    batches = []
    with pytest.raises(tf.errors.OutOfRangeError):
        while True:
            batches.append(session.run(values).tolist())
    assert batches == [[b"1", b"2"], [b"3"], [b"4", b"5"], [b"1", b"2"], [b"3"]]
    assert session.run(reader.read_up_to(queue_of(session, [a]), 0)[0]).shape == (0,)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_records must be >= 0 not -3"):
        session.run(reader.read_up_to(queue_of(session, [a]), -3))


def test_bad_files_are_told_and_left(session, write, tmp_path):
    path = str(tmp_path / "records")
    with tf.python_io.TFRecordWriter(path) as writer:
        writer.write(b"first")
        writer.write(b"second")
    data = (tmp_path / "records").read_bytes()
    flipped, cut = write("flipped", data[:12] + b"X" + data[13:]), write("cut", data[:-3])
    records, _ = read_all(session, tf.TFRecordReader(), [flipped, cut, str(tmp_path / "none"), str(tmp_path), path])
    assert [record if isinstance(record, type) else record[1] for record in records] == [
        tf.errors.DataLossError, b"first", tf.errors.DataLossError, tf.errors.NotFoundError,
        tf.errors.FailedPreconditionError, b"first", b"second",
    ]  # fmt: skip
    # Records before the damage come out, and the error after them.
    reader = tf.TFRecordReader()
    _, values = reader.read_up_to(queue_of(session, [cut, path]), 5)
    assert session.run(values).tolist() == [b"first"]
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 21"):
        session.run(values)
    assert session.run(values).tolist() == [b"first", b"second"]
    # A file without the whole header; one that is not compressed.
    short = write("short", b"abc")
    assert read_all(session, tf.FixedLengthRecordReader(1, 5), [short])[0] == [tf.errors.OutOfRangeError]
    plain = tf.FixedLengthRecordReader(1, encoding="ZLIB")
    assert read_all(session, plain, [short])[0] == [tf.errors.DataLossError]


def test_states(session, write):
    path = write("a", b"1\n2\n")
    for reader in (tf.IdentityReader(), tf.WholeFileReader()):
        assert reader.supports_serialize
        q = queue_of(session, [path] * 3)
        session.run(reader.read(q))
        state = session.run(reader.serialize_state())
        assert state == b'\x08\x01\x10\x01\x18\x01"' + bytes([len(path)]) + path.encode()
        session.run(reader.read(q))
        session.run(reader.restore_state(state))
        counts = [reader.num_records_produced(), reader.num_work_units_completed()]
        assert session.run(counts) == [1, 1]
        for wrong, message in (
            (b"x", "Could not parse state for"),
            (b"\x08\x05\x10\x02", "Inconsistent work started vs. finished"),
            (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "negative value"),
        ):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                session.run(reader.restore_state(wrong))
        assert session.run(counts) == [1, 1]
        session.run(reader.reset())
        assert session.run(counts) == [0, 0]
    for reader in (tf.TextLineReader(), tf.FixedLengthRecordReader(1), tf.TFRecordReader()):
        assert not reader.supports_serialize
        with pytest.raises(tf.errors.UnimplementedError, match="Reader SerializeState"):
            session.run(reader.serialize_state())
        with pytest.raises(tf.errors.UnimplementedError, match="Reader RestoreState"):
            session.run(reader.restore_state(state))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        reader.restore_state(["a"])


def test_reset_leaves_the_file(session, write):
    a, b = write("a", b"1\n2\n3\n"), write("b", b"4\n")
    reader = tf.TextLineReader()
    q = queue_of(session, [a, b])
    _, value = reader.read(q)
    assert session.run(value) == b"1"
    session.run(reader.reset())
    assert session.run(value) == b"4"
    assert session.run(reader.num_records_produced()) == 1


def test_mistakes(session):
    for arguments, name in (((-1,), "record_bytes"), ((4, -1), "header_bytes"), ((4, 0, -1), "footer_bytes"),
                            ((4, 0, 0, -1), "hop_bytes")):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"{name} must be >= 0 not -1"):
            session.run(tf.FixedLengthRecordReader(*arguments).num_records_produced())
    with pytest.raises(tf.errors.InvalidArgumentError, match="record_bytes must be > 0"):
        session.run(tf.FixedLengthRecordReader(0).num_records_produced())
    with pytest.raises(tf.errors.InvalidArgumentError, match="skip_header_lines must be >= 0 not -1"):
        session.run(tf.TextLineReader(skip_header_lines=-1).num_records_produced())
    reader = tf.IdentityReader()
    for q in (tf.FIFOQueue(3, tf.int32), tf.FIFOQueue(3, [tf.string, tf.string])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="elements of one string"):
            session.run(reader.read(q))
    q = tf.FIFOQueue(10, tf.string)
    session.run(q.enqueue([["a", "b"]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected to dequeue a one-element string tensor"):
        session.run(reader.read(q))
    with pytest.raises(tf.errors.InvalidArgumentError, match="wrong type. Expected reader got queue"):
        session.run(ops.reader_num_records_produced_v2(q.queue_ref))
    with pytest.raises(AttributeError):
        reader.read("a")


def test_a_reader_that_waits_can_be_left(session):
    """One run waits for the queue, another for the reader; each has its own time, and counts do not wait."""
    reader, q = tf.IdentityReader(), tf.FIFOQueue(3, tf.string, [()])
    read = reader.read(q)
    options = tf.RunOptions(timeout_in_ms=150)
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(read, options=options)
    handle = reader.reader_ref
    threads = [threading.Thread(target=lambda: outcome.append(session.run(read).value), daemon=True)]
    outcome = []
    threads[0].start()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(read, options=options)
    assert session.run(ops.reader_num_records_produced_v2(handle)) == 0
    session.run(q.enqueue("x"))
    threads[0].join(20)
    assert outcome == [b"x"]


def test_the_first_versions_of_the_ops(session, write):
    path = write("a", b"1\n2\n")
    q = ops.fifo_queue(component_types=[tf.string], shapes=[[]])
    session.run(tf.QueueBase([tf.string], [[]], None, q).enqueue(path))
    reader = tf.ReaderBase(ops.text_line_reader())
    assert session.run(reader.read(q)).value == b"1"
    assert session.run(reader.read_up_to(q, 5)).values.tolist() == [b"2"]
    assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [2, 1]
    session.run(reader.reset())
    for make in (ops.whole_file_reader, ops.identity_reader, ops.tf_record_reader):
        assert session.run(tf.ReaderBase(make()).num_records_produced()) == 0
    fixed = tf.ReaderBase(ops.fixed_length_record_reader(record_bytes=1))
    assert session.run(fixed.num_records_produced()) == 0

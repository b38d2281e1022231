"""Data sets of files: what they bring, and what they say of files that are missing or damaged."""

import gzip
import zlib

import pytest

import stillflow as tf
from stillflow.datasets.dataset import DatasetV1Adapter
from stillflow.datasets.files import RecordFileDataset, _FixedLengthRecordDataset, _TextLineDataset

RECORDS = [b"rec%d" % i for i in range(4)]
RECORD_BYTES = 20


@pytest.fixture
def write(tmp_path):
    def put(name, data):
        path = tmp_path / name
        path.write_bytes(data)
        return str(path)

    return put


@pytest.fixture
def records(tmp_path):
    def put(name, options=None):
        with tf.python_io.TFRecordWriter(str(tmp_path / name), options) as writer:
            for record in RECORDS:
                writer.write(record)
        return str(tmp_path / name)

    return put


def outcomes(dataset, most=20):
    """What get_next brings: elements, and the names of errors with the beginnings of their messages, to the end."""
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    found = []
    with tf.Session() as session:
        session.run(iterator.initializer)
        while len(found) < most:
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                break
            except tf.errors.OpError as error:
                found.append((type(error).__name__, error.message.partition("\n")[0]))
    return found


def lines(*paths, compression_type=None, buffer_size=None, **kwargs):
    return outcomes(_TextLineDataset(tf.constant(paths, tf.string), compression_type, buffer_size), **kwargs)


def tf_records(*paths, compression_type=None, buffer_size=None, **kwargs):
    return outcomes(RecordFileDataset(tf.constant(paths), compression_type, buffer_size), **kwargs)


def fixed(*paths, lengths=(2, 2, 1), compression_type=None, buffer_size=None, **kwargs):
    dataset = _FixedLengthRecordDataset(
        tf.constant(paths), *lengths, buffer_size=buffer_size, compression_type=compression_type
    )
    return outcomes(dataset, **kwargs)


def test_lines(write):
    first, empty, last = write("a", b"one\r\ntwo\n\nth\rree"), write("e", b""), write("b", b"four\n")
    assert lines(first, empty, last) == [b"one", b"two", b"", b"three", b"four"]
    assert lines(first, buffer_size=1) == [b"one", b"two", b"", b"three"]
    long = write("long", b"x" * 700_000 + b"\r\n" + b"y" * 300_000)
    assert lines(long) == [b"x" * 700_000, b"y" * 300_000]
    assert lines() == []


def test_compressed_lines(write):
    data = b"one\ntwo\nthree"
    assert lines(write("a", gzip.compress(data)), compression_type="GZIP") == data.split(b"\n")
    assert lines(write("b", zlib.compress(data)), compression_type="ZLIB") == data.split(b"\n")
    failure = ("DataLossError", "inflate() failed with error -3: incorrect header check")
    assert lines(write("c", data), compression_type="GZIP", most=2) == [failure] * 2


def test_what_is_missing_stays_missing(write, tmp_path):
    path = str(tmp_path / "missing")
    failure = ("NotFoundError", f"{path}; No such file or directory")
    first = write("b", b"four\n")
    assert lines(first, path, first, most=3) == [b"four", failure, failure]
    assert tf_records(path, most=2) == [failure] * 2
    assert fixed(path, most=2) == [failure] * 2
    assert lines(str(tmp_path), most=1) == [("FailedPreconditionError", f"{tmp_path}; Is a directory")]


def test_a_file_that_appears_is_read(write, tmp_path):
    path = tmp_path / "late"
    iterator = DatasetV1Adapter(_TextLineDataset(tf.constant([str(path)]))).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.NotFoundError):
            session.run(element)
        path.write_bytes(b"line\n")
        assert session.run(element) == b"line"


def test_records(records, write):
    path, empty = records("r"), write("e", b"")
    assert tf_records(path, empty, path, buffer_size=0) == RECORDS * 2
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    assert tf_records(records("z", options), compression_type="GZIP") == RECORDS
    assert tf_records(path, compression_type="FOO") == RECORDS


def test_damaged_records_are_left_with_their_file(records, write):
    path = records("r")
    with open(path, "rb") as file:
        data = file.read()
    truncated = write("t", data[:-3])
    assert tf_records(truncated, path) == [*RECORDS[:3], ("DataLossError", "truncated record at 60"), *RECORDS]
    for place in (21, 25):
        corrupted = write("c", data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        found = tf_records(corrupted, path)
        assert found[0] == RECORDS[0]
        assert found[1][0] == "DataLossError"
        assert found[1][1].startswith("corrupted record at ")
        assert found[2:] == RECORDS
    assert tf_records(write("x", b"text that is no record"), path) == [
        ("DataLossError", "corrupted record at 0"), *RECORDS
    ]  # fmt: skip
    failure = ("DataLossError", "inflate() failed with error -3: incorrect header check")
    assert tf_records(path, compression_type="GZIP") == [failure]


def test_records_of_one_length(write):
    path = write("f", b"HHaabbccF")
    assert fixed(path, path) == [b"aa", b"bb", b"cc"] * 2
    zipped = write("z", gzip.compress(b"HHaabbccF"))
    assert fixed(zipped, compression_type="GZIP") == [b"aa", b"bb", b"cc"]


def test_files_of_other_lengths(write):
    path = write("g", b"HHaabbcF")
    text = (
        'Excluding the header (2 bytes) and footer (1 bytes), input file "{}" has body length 5 bytes, which is not '
        "an exact multiple of the record length (2 bytes)."
    )
    assert fixed(path, most=2) == [("InvalidArgumentError", text.format(path))] * 2
    zipped, whole = write("z", gzip.compress(b"HHaabbcF")), write("y", gzip.compress(b"HHddF"))
    found = fixed(zipped, whole, compression_type="GZIP")
    assert found == [b"aa", b"bb", ("DataLossError", text.format(zipped)), b"dd"]
    for lengths in ((100, 2, 1), (2, 100, 1), (2**62, 2**62, 2**62)):
        assert fixed(path, lengths=lengths, most=1)[0][0] == "InvalidArgumentError"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: _TextLineDataset("a", "FOO"), "Unsupported compression_type"),
        (lambda: _TextLineDataset("a", buffer_size=-1), r"`buffer_size` must be >= 0 \(0 == default\)"),
        (lambda: RecordFileDataset("a", buffer_size=-1), r"`buffer_size` must be >= 0 \(0 == no buffering\)"),
        (lambda: _FixedLengthRecordDataset("a", 0), "`record_bytes` must be > 0"),
        (lambda: _FixedLengthRecordDataset("a", 2, -1), "`header_bytes` must be >= 0"),
        (lambda: _FixedLengthRecordDataset("a", 2, 2, -1), "`footer_bytes` must be >= 0"),
        (lambda: _FixedLengthRecordDataset("a", 2, buffer_size=-1), "`buffer_size` must be >= 0"),
        (lambda: _FixedLengthRecordDataset("a", 2, compression_type="FOO"), "Unsupported compression_type"),
    ],
)
def test_bad_arguments_are_named(make, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        outcomes_of_initialization(make())


def outcomes_of_initialization(dataset):
    iterator = DatasetV1Adapter(dataset).make_initializable_iterator()
    with tf.Session() as session:
        session.run(iterator.initializer)


# ---- Caches in files --------------------------------------------------------------------------------------------


def test_a_cache_in_a_file(tmp_path):
    path = str(tmp_path / "cache")
    source = tf.placeholder_with_default([1, 2, 3], [None])
    texts = tf.as_string(source)
    dataset = tf.data.Dataset.from_tensor_slices((source, texts)).cache(path)
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for fed in ([1, 2, 3], [7, 8, 9]):  # the second is not looked at any more
            session.run(iterator.initializer, {source: fed})
            assert [session.run(element) for _ in range(3)] == [(1, b"1"), (2, b"2"), (3, b"3")]
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(element)
    names = sorted(name for name, _ in tf.train.list_variables(path))
    assert names == [f"{i:7}_{c}" for i in range(3) for c in range(2)]


def test_a_pass_that_is_left_leaves_no_file(tmp_path):
    iterator = tf.data.Dataset.range(5).cache(str(tmp_path / "cache")).make_initializable_iterator()
    element = iterator.get_next()
    with tf.Session() as session:
        for _ in range(2):
            session.run(iterator.initializer)
            assert [session.run(element) for _ in range(2)] == [0, 1]
    del session
    assert not (tmp_path / "cache.index").exists()


def test_caches_that_cannot_be_used(tmp_path):
    write = tf.data.Dataset.range(3).cache(str(tmp_path / "cache")).make_initializable_iterator()
    element = write.get_next()
    with tf.Session() as session:
        session.run(write.initializer)
        with pytest.raises(tf.errors.OutOfRangeError):
            for _ in range(4):
                session.run(element)
        other = tf.data.Dataset.from_tensors("text").cache(str(tmp_path / "cache")).make_initializable_iterator()
        session.run(other.initializer)
        with pytest.raises(tf.errors.InvalidArgumentError, match="has a component of type int64 where string"):
            session.run(other.get_next())
        data = next(tmp_path.glob("cache.data*"))
        data.write_bytes(b"\1" * data.stat().st_size)
        session.run(write.initializer)
        with pytest.raises(tf.errors.DataLossError):
            session.run(element)
        (tmp_path / "cache.index").write_bytes(b"no index")
        with pytest.raises(tf.errors.DataLossError):
            session.run(write.initializer)


# ---- The public names -------------------------------------------------------------------------------------------


def test_several_files_of_all_kinds(write, records):
    texts = [write("a", b"one\ntwo"), write("b", b""), write("c", b"three\n")]
    assert outcomes(tf.data.TextLineDataset(texts)) == [b"one", b"two", b"three"]
    assert outcomes(tf.data.TextLineDataset(texts[0])) == [b"one", b"two"]
    assert outcomes(tf.data.TextLineDataset(tf.data.Dataset.from_tensor_slices(texts))) == [b"one", b"two", b"three"]
    zipped = write("z", gzip.compress(b"HHaabbF"))
    fixed_length = tf.data.FixedLengthRecordDataset([zipped] * 2, 2, 2, 1, compression_type="GZIP")
    assert outcomes(fixed_length) == [b"aa", b"bb"] * 2
    path = records("r")
    assert outcomes(tf.data.TFRecordDataset([path, path]).skip(3)) == [RECORDS[3], *RECORDS]
    in_turns = tf.data.TFRecordDataset([path, path], num_parallel_reads=2)
    assert outcomes(in_turns) == [record for record in RECORDS for _ in range(2)]


def test_what_is_no_name_of_a_file():
    with pytest.raises(TypeError, match="of `tf.string` elements"):
        tf.data.TextLineDataset(tf.data.Dataset.range(3))
    with pytest.raises(TypeError, match="of scalar `tf.string` elements"):
        tf.data.TFRecordDataset(tf.data.Dataset.from_tensors(["a", "b"]))


def test_listed_files(write, tmp_path):
    names = [write(name, b"").encode() for name in ("a1", "a2", "a3", "b1")]
    listed = tf.data.Dataset.list_files
    assert outcomes(listed(str(tmp_path / "a*"), shuffle=False)) == names[:3]
    assert sorted(outcomes(listed([str(tmp_path / "a?"), str(tmp_path / "b*")], seed=1))) == names
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern: "):
        outcomes_of_initialization(listed(str(tmp_path / "none*")))

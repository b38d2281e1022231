"""TFRecord files against TensorFlow's own, and what becomes of damaged ones."""

import gzip
import json
import struct
import zlib
from pathlib import Path

import pytest

import stillflow as tf
from stillflow.formats.records import framed

DATA = Path(__file__).parent.parent / "data" / "records"
EXPECTED = json.loads((DATA / "expected.json").read_text())
RAW = [bytes.fromhex(record) for record in EXPECTED["raw"]]
TWO = framed(b"hello") + framed(b"second")  # of 21 and 22 bytes


def read(path, options=None):
    return list(tf.python_io.tf_record_iterator(path, options))


def read_until_error(path, options=None):
    records = []
    with pytest.raises(tf.errors.OpError) as error:
        for record in tf.python_io.tf_record_iterator(path, options):
            records.append(record)
    return records, error.value


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("plain", None),
        ("plain", ""),
        ("gzip", "GZIP"),
        ("gzip", tf.python_io.TFRecordCompressionType.GZIP),
        ("zlib", tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB)),
        ("zlib_tuned", tf.python_io.TFRecordOptions("ZLIB", window_bits=12)),
    ],
)
def test_files_of_tensorflow_are_read(name, options):
    assert read(DATA / f"raw_{name}.tfrecord", options) == RAW


def test_a_plain_file_has_the_bytes_of_tensorflows(tmp_path):
    with tf.python_io.TFRecordWriter(tmp_path / "a") as writer:
        for record in RAW:
            writer.write(record)
    assert (tmp_path / "a").read_bytes() == (DATA / "raw_plain.tfrecord").read_bytes()


@pytest.mark.parametrize(
    ("options", "inflate"),
    [
        ("GZIP", gzip.decompress),
        ("ZLIB", zlib.decompress),
        (
            tf.io.TFRecordOptions("ZLIB", window_bits=10, mem_level=1, compression_level=9, flush_mode=2),
            zlib.decompress,
        ),
        (tf.io.TFRecordOptions("GZIP", compression_strategy=3, compression_method=8), gzip.decompress),
    ],
)
def test_compressed_files_come_back_and_are_one_stream(tmp_path, options, inflate):
    with tf.io.TFRecordWriter(str(tmp_path / "a"), options) as writer:
        for record in RAW:
            writer.write(record)
            writer.flush()
    assert inflate((tmp_path / "a").read_bytes()) == (DATA / "raw_plain.tfrecord").read_bytes()
    assert read(tmp_path / "a", options) == RAW


def test_records_larger_than_a_buffer(tmp_path):
    records = [bytes(range(256)) * 5000, b"", b"x" * (1 << 18)]
    for options in ("", "GZIP", "ZLIB"):
        with tf.io.TFRecordWriter(tmp_path / "a", options) as writer:
            for record in records:
                writer.write(record)
        assert read(tmp_path / "a", options) == records


def test_gzip_files_put_after_one_another(tmp_path):
    (tmp_path / "a").write_bytes(gzip.compress(framed(b"a")) + gzip.compress(framed(b"b")) + b"junk")
    assert read(tmp_path / "a", "GZIP") == [b"a", b"b"]


def flipped(data, position):
    return data[:position] + bytes([data[position] ^ 1]) + data[position + 1 :]


@pytest.mark.parametrize(
    ("data", "records", "message"),
    [
        (TWO[:33], [b"hello"], "truncated record at 21"),
        (TWO[:-1], [b"hello"], "truncated record at 21"),
        (TWO[:12], [], "truncated record at 0"),
        (flipped(TWO, 0), [], "corrupted record at 0"),
        (flipped(TWO, 9), [], "corrupted record at 0"),
        (flipped(TWO, 13), [], "corrupted record at 12"),
        (flipped(TWO, 21 + 13), [b"hello"], "corrupted record at 33"),
        (b"text, not records at all", [], "corrupted record at 0"),
        (gzip.compress(TWO, mtime=0), [], "corrupted record at 0"),
    ],
)
def test_damage_is_named(tmp_path, data, records, message):
    (tmp_path / "a").write_bytes(data)
    found, error = read_until_error(tmp_path / "a")
    assert found == records and isinstance(error, tf.errors.DataLossError) and str(error) == message


@pytest.mark.parametrize("size", [0, 1, 11])
def test_a_file_may_end_within_a_header(tmp_path, size):
    (tmp_path / "a").write_bytes(TWO[: 21 + size])
    assert read(tmp_path / "a") == [b"hello"]


def test_a_length_that_is_not_true_takes_no_memory(tmp_path):
    from stillflow._engine import masked_crc32c

    for length in (1 << 33, 1 << 62, (1 << 64) - 1):
        header = struct.pack("<Q", length)
        (tmp_path / "a").write_bytes(header + struct.pack("<I", masked_crc32c(header)) + b"data")
        assert read_until_error(tmp_path / "a")[1].message == "truncated record at 0"


@pytest.mark.parametrize("kind", ["GZIP", "ZLIB"])
def test_damaged_streams(tmp_path, kind):
    (tmp_path / "a").write_bytes(TWO)
    found, error = read_until_error(tmp_path / "a", kind)
    assert found == [] and isinstance(error, tf.errors.DataLossError)
    assert error.message == "inflate() failed with error -3: incorrect header check"
    data = gzip.compress(TWO, mtime=0) if kind == "GZIP" else zlib.compress(TWO)
    (tmp_path / "a").write_bytes(data[: len(data) // 2])
    assert all(record in (b"hello", b"second") for record in records_before_damage(tmp_path / "a", kind))
    for position in range(len(data)):
        (tmp_path / "a").write_bytes(flipped(data, position))
        found = records_before_damage(tmp_path / "a", kind)
        assert found in ([], [b"hello"], [b"hello", b"second"])


def records_before_damage(path, kind):
    records = []
    try:
        for record in tf.python_io.tf_record_iterator(path, kind):
            records.append(record)
    except tf.errors.DataLossError:
        pass
    return records


def test_wrong_calls(tmp_path):
    with pytest.raises(ValueError, match='Not a valid compression_type: "x"'):
        tf.python_io.TFRecordWriter(tmp_path / "a", "x")
    with pytest.raises(ValueError, match='Not a valid compression_type: "9"'):
        tf.python_io.TFRecordOptions(9)
    with pytest.raises(tf.errors.InvalidArgumentError, match="deflateInit failed"):
        tf.python_io.TFRecordWriter(tmp_path / "a", tf.python_io.TFRecordOptions("GZIP", compression_level=99))
    with pytest.raises(tf.errors.NotFoundError, match="nope; No such file or directory"):
        read("nope")
    with pytest.raises(tf.errors.NotFoundError, match="no/such/a; No such file or directory"):
        tf.python_io.TFRecordWriter("no/such/a")
    with pytest.raises(tf.errors.FailedPreconditionError, match="Is a directory"):
        read(tmp_path)
    writer = tf.python_io.TFRecordWriter(tmp_path / "a")
    with pytest.raises(TypeError, match="expected bytes, str found"):
        writer.write("text")
    writer.close()
    writer.close()
    for call in (writer.flush, lambda: writer.write(b"x")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer not initialized or previously closed"):
            call()


def test_a_full_disk_is_reported():
    writer = tf.python_io.TFRecordWriter("/dev/full")
    writer.write(b"x")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="No space left on device"):
        writer.flush()
    with pytest.raises(tf.errors.ResourceExhaustedError):
        writer.close()

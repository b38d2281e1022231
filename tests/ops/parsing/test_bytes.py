"""CSV, raw bytes, messages and files: what is refused. Results: programs/snippets/texts.py."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stillflow as tf
from stillflow import ops
from stillflow.testing import assert_same_bits


def run(tensors, feeds=None):
    with tf.Session() as session:
        return session.run(tensors, feeds)


def unknown(value):
    return tf.placeholder_with_default(value, None)


# ---- CSV ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        (",", ["d", "d"]), (",,", ["d", "d", "d"]), ("a,", ["a", "d"]), (",a", ["d", "a"]), ('"a"', ["a"]),
        ('"a",', ["a", "d"]), ('""', ["d"]), ('""""', ['"']), ('"a\nb"', ["a\nb"]), ("\na", ["a"]), ("a,\n", ["a"]),
        ('"a""b",c', ['a"b', "c"]), ('"a","b"', ["a", "b"]), (",\n,", ["d", "d", "d"]), ('"",""', ["d", "d"]),
    ],
)  # fmt: skip
def test_fields_of_a_line(line, fields):
    assert [value.decode() for value in run(tf.decode_csv(line, [["d"]] * len(fields)))] == fields


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "Expect 1 fields but have 0 in record 0"),
        ("\n", "Expect 1 fields but have 0 in record 0"),
        ("a,b", "Expect 1 fields but have 2 in record 0"),
        ('"a"b', "Quote inside a string has to be escaped by another quote"),
        ('"a" ,b', "Quote inside a string has to be escaped by another quote"),
        ('"', "Quoted field has to end with quote followed by delim or end"),
        ('"""', "Quoted field has to end with quote followed by delim or end"),
        ('a,"b', "Quoted field has to end with quote followed by delim or end"),
        ("a\nb", "Unquoted fields cannot have quotes/CRLFs inside"),
        ("a\n", "Unquoted fields cannot have quotes/CRLFs inside"),
        ('a"b', "Unquoted fields cannot have quotes/CRLFs inside"),
        (' "a"', "Unquoted fields cannot have quotes/CRLFs inside"),
    ],
)
def test_lines_that_are_refused(line, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.decode_csv(line, [["d"]]))


def test_fields_that_are_refused():
    for line, dtype, message in (
        ("1,x", tf.int32, "Field 1 in record 0 is not a valid int32: x"),
        ("1,99999999999", tf.int32, "Field 1 in record 0 is not a valid int32: 99999999999"),
        ("1,1.5", tf.int64, "Field 1 in record 0 is not a valid int64: 1.5"),
        ("1,x", tf.float32, "Field 1 in record 0 is not a valid float: x"),
        ("1,x", tf.float64, "Field 1 in record 0 is not a valid double: x"),
        ("1,", tf.int32, "Field 1 is required but missing in record 0!"),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            run(tf.decode_csv(line, [tf.constant([], dtype)] * 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1 in record 3"):
        run(tf.decode_csv(["1,2"] * 3 + ["1"] + ["x,y,z"] * 500, [[0], [0]]))
    for delimiter in ("", ";;"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="field_delim should be only 1 char"):
            run(tf.decode_csv("a", [""], field_delim=delimiter))
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="There should only be 1 default per field but field 0 has 2"
    ):
        run(tf.decode_csv("1", [unknown([1, 2])]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expect 2 fields but have 1 in record 0"):
        run(tf.decode_csv("a,b", ["", ""], select_cols=[1, 9]))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"select_cols": [2, 0]}, ValueError, "select_cols is not strictly increasing."),
        ({"select_cols": [-1, 0]}, ValueError, "select_cols contains negative values."),
        ({"select_cols": [1]}, ValueError, "Length of select_cols and record_defaults do not match."),
        ({"record_defaults": []}, ValueError, "passed list of length 0 less than minimum 1"),
        ({"record_defaults": [[3, 4]]}, ValueError, "must be a length-0 or length-1 vector, or a scalar"),
        ({"record_defaults": [[[3]]]}, ValueError, "Shape must be at most rank 1 but is rank 2"),
        ({"record_defaults": [True]}, TypeError, "DataType bool not in list of allowed values"),
        ({"records": 3}, TypeError, "Expected string"),
    ],
)
def test_csv_calls_that_are_refused(arguments, error, message):
    with pytest.raises(error, match=message):
        tf.decode_csv(**{"records": "1,2", "record_defaults": [0, 0], **arguments})


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text('ab ",\n\r;', max_size=8), min_size=1, max_size=5))
def test_what_python_writes_is_read(fields):
    line = io.StringIO()
    csv.writer(line, lineterminator="", quoting=csv.QUOTE_ALL).writerow(fields)
    with tf.Graph().as_default():
        found = run(tf.decode_csv(line.getvalue(), [[""]] * len(fields)))
    assert [value.decode() for value in found] == fields


@settings(max_examples=300, deadline=None)
@given(st.text('ab",\n\0', max_size=12), st.integers(1, 4), st.booleans())
def test_no_line_does_harm(line, count, quotes):
    with tf.Graph().as_default():
        try:
            found = run(tf.decode_csv(line, [["d"]] * count, use_quote_delim=quotes))
            assert len(found) == count
        except tf.errors.InvalidArgumentError:
            pass


def test_columns_are_the_same_for_every_number_of_threads(rng):
    lines = [
        f'{number},{value!r},"t""{number}",'
        for number, value in zip(range(3000), rng.standard_normal(3000).tolist(), strict=True)
    ]
    defaults = [[0], tf.constant([0.0], tf.float64), [""], [7]]
    assert_same_bits(lambda: tf.decode_csv(lines, [defaults[0], tf.constant([0.0], tf.float64), [""], [7]]))
    numbers, values, texts, missing = run(tf.decode_csv(lines, defaults))
    assert numbers.tolist() == list(range(3000)) and set(missing.tolist()) == {7} and texts[5] == b't"5'
    assert values.tolist() == [float(line.split(",")[1]) for line in lines]


# ---- Raw bytes and messages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.decode_raw(["ab", "c"], tf.uint8), "element 1 has size 2 != 1"),
        (lambda: tf.decode_raw(["abc"], tf.int16), "length 3 that is not a multiple of 2, the size of int16"),
        (lambda: tf.decode_json_example("junk"), "Error while parsing JSON"),
        (lambda: tf.decode_json_example('{"features":{"x":1}}'), "Error while parsing JSON"),
        (lambda: tf.parse_tensor(b"junk", tf.float32), "Cannot parse tensor from proto"),
        (lambda: tf.parse_tensor(tf.serialize_tensor([1.0]), tf.int32), "Type mismatch between parsed tensor"),
        (
            lambda: tf.parse_tensor(b"\x08\x01\x12\x0b\x12\x09\x08\xff\xff\xff\xff\xff\xff\xff\x3f", tf.float32),
            "Cannot parse",
        ),
        (lambda: tf.decode_compressed(["x"], "Q"), "Only ZLIB, GZIP or NONE are supported"),
    ],
)
def test_bytes_that_are_refused(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def test_compressed_strings():
    assert run(tf.decode_compressed([gzip.compress(b"aaa"), b""], "GZIP")).tolist() == [b"aaa", b""]
    with pytest.raises(tf.errors.DataLossError):
        run(tf.decode_compressed(["junkjunkjunk"], "ZLIB"))


def test_tensors_come_back(rng):
    for value in (
        rng.standard_normal((3, 2)),
        np.array([[b"a\0"], [b""]], object),
        np.zeros((0, 3), np.int8),
        np.float32(2),
    ):
        tensor = tf.constant(value)
        back = run(tf.parse_tensor(tf.serialize_tensor(tensor), tensor.dtype))
        np.testing.assert_array_equal(back, value)


# ---- Files --------------------------------------------------------------------------------------------------------


def test_files_are_written_found_and_read(tmp_path):
    name = tmp_path / "new" / "a.txt"
    run(tf.write_file(str(name), b"a\0b"))
    run(tf.write_file(str(name.parent / ".b.txt"), "c"))
    assert run(tf.read_file(str(name))) == b"a\0b"
    patterns = [f"{name.parent}/*.txt", f"{name.parent}/a*"]
    assert run(tf.matching_files(patterns)).tolist() == [f"{name.parent}/{n}".encode() for n in (".b.txt", "a.txt")]
    assert run(tf.matching_files(f"{name.parent}/z*")).tolist() == []
    assert run(tf.matching_files(tf.constant([], tf.string))).tolist() == []


def test_names_without_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run(tf.write_file("x.dat", "1"))
    assert run(tf.matching_files("*.dat")).tolist() == [b"./x.dat"]


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda d: tf.read_file(f"{d}/nope"), tf.errors.NotFoundError, "nope; No such file or directory"),
        (lambda d: tf.read_file(d), tf.errors.FailedPreconditionError, "Is a directory"),
        (lambda d: tf.read_file(f"{d}/a\0b"), tf.errors.InvalidArgumentError, "null byte"),
        (lambda d: tf.read_file("nope://x"), tf.errors.UnimplementedError, "scheme 'nope' not implemented"),
        (lambda d: tf.matching_files(f"{d}/nodir/*"), tf.errors.NotFoundError, "nodir; No such file or directory"),
        (lambda d: tf.write_file("/proc/nope/x", "a"), tf.errors.OpError, "nope"),
    ],
)
def test_files_that_are_not_there(tmp_path, build, error, message):
    with pytest.raises(error, match=message):
        run(build(str(tmp_path)))
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 1"):
        tf.read_file(["a"])


@pytest.mark.parametrize(
    ("little_endian", "expected"), [(True, [[25185, 25699], [26213, 0]]), (False, [[24930, 25444], [25958, 0]])]
)
def test_padded_bytes(little_endian, expected):
    texts = np.array([b"abcdxx", b"ef"], object)
    found = ops.decode_padded_raw(texts, 4, out_type=tf.int16, little_endian=little_endian)
    assert found.shape.as_list() == [2, 2]
    assert run(found).tolist() == expected


@pytest.mark.parametrize(
    ("length", "message"), [(3, "must be a multiple of the size"), (0, "must be greater than zero")]
)
def test_padded_bytes_of_a_length_that_cannot_be(length, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(ops.decode_padded_raw(["ab"], unknown(length), out_type=tf.int16))

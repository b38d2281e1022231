"""CSV files: records, fields and what is wrong with them, as TensorFlow 1.15.5 has them."""

import gzip

import pytest

import stillflow as tf

N, S = tf.int32, tf.string


@pytest.fixture(name="written")
def fixture_written(tmp_path):
    def write(*texts):
        names = []
        for i, text in enumerate(texts):
            names.append(str(tmp_path / f"{i}.csv"))
            (tmp_path / f"{i}.csv").write_bytes(text.encode() if isinstance(text, str) else text)
        return names

    return write


def elements(dataset, most=20):
    with tf.Session() as session:
        element = dataset.make_one_shot_iterator().get_next()
        found = []
        for _ in range(most):
            try:
                found.append(session.run(element))
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.OpError as error:
                found.append(type(error).__name__ + ": " + error.message.split("\n")[0])
                return found
    return found


@pytest.mark.parametrize(
    ("text", "defaults", "options", "expected"),
    [
        ("1,a\n2,b\n", [N, S], {}, [(1, b"a"), (2, b"b")]),
        ("1,a\r\n2,b", [N, S], {}, [(1, b"a"), (2, b"b")]),
        ("1,a\r2,b\r", [N, S], {}, [(1, b"a"), (2, b"b")]),
        ('1,"a, ""b""\n c"\n2,""\n', [N, ["x"]], {}, [(1, b'a, "b"\n c'), (2, b"x")]),
        ("1,\n,b\n", [[7], ["x"]], {}, [(1, b"x"), (7, b"b")]),
        ("NA,b\n", [[7.5], S], {"na_value": "NA"}, [(7.5, b"b")]),
        ("h,i,j\n1,2,3\n4,5,6\n", [N, N], {"header": True, "select_cols": [0, 2]}, [(1, 3), (4, 6)]),
        ('1;"a\n', [N, S], {"field_delim": ";", "use_quote_delim": False}, [(1, b'"a')]),
        ("1,\n", [N, N], {}, ["InvalidArgumentError: Field 1 is required but missing in record!"]),
        ("1\n", [N, N], {}, ["InvalidArgumentError: Expect 2 fields but have 1 in record"]),
        ("1,2,3\n", [N, N], {}, ["InvalidArgumentError: Expect 2 fields but have more in record"]),
        ("1.5\n", [N], {}, ["InvalidArgumentError: Field 0 in record is not a valid int32: 1.5"]),
        ('a"b"\n', [S], {}, ["InvalidArgumentError: Unquoted fields cannot have quotes inside"]),
        ('"a"b"\n', [S], {}, ["InvalidArgumentError: Quote inside a string has to be escaped by another quote"]),
        ('"a\n', [S], {},
         ["InvalidArgumentError: Reached end of file without closing quoted field in record"]),
        ("", [S], {"header": True}, ["InvalidArgumentError: Can't read header of file"]),
    ],
)  # fmt: skip
def test_records_are_those_of_tensorflow(written, text, defaults, options, expected):
    found = elements(tf.data.experimental.CsvDataset(written(text), defaults, **options))
    assert found == expected


def test_a_record_that_fails_is_left_behind(written):
    dataset = tf.data.experimental.CsvDataset(written("1\nx\n3\n"), [N])
    assert elements(dataset.apply(tf.data.experimental.ignore_errors())) == [(1,), (3,)]


def test_files_may_be_compressed_and_records_longer_than_what_is_read_at_a_time(written):
    field = "ab" * 300_000
    names = written(gzip.compress(f'"{field}",1\n2,3\n'.encode()), gzip.compress(b"4,5\n"))
    dataset = tf.data.experimental.CsvDataset(names, [S, N], compression_type="GZIP")
    assert elements(dataset) == [(field.encode(), 1), (b"2", 3), (b"4", 5)]


def test_names_types_and_labels_come_from_the_files(written):
    names = written("n,x,w,big,s\n1,2.5,,5000000000,a\n", "n,x,w,big,s\n4,1,7,1,\n")
    make = tf.data.experimental.make_csv_dataset
    dataset = make(names, 2, label_name="s", num_epochs=1, shuffle=False)
    types, _ = tf.data.get_output_types(dataset)
    assert dict(types) == {"n": tf.int32, "x": tf.float32, "w": tf.int32, "big": tf.int64}
    ((features, label),) = elements(dataset)
    assert {key: value.tolist() for key, value in features.items()} == {
        "n": [1, 4], "x": [2.5, 1.0], "w": [0, 7], "big": [5000000000, 1],
    }  # fmt: skip
    assert label.tolist() == [b"a", b""]
    (chosen,) = elements(make(names, 2, select_columns=["big", 0], num_epochs=1, shuffle=False))
    assert list(chosen) == ["n", "big"]


def test_make_csv_dataset_refuses_what_does_not_fit(written):
    make = tf.data.experimental.make_csv_dataset
    names = written("a,b\n1,2\n", "a,c\n1,2\n")
    for arguments, message in (
        ({}, "different column names"),
        ({"column_names": ["a", "a"]}, "duplicate column names"),
        ({"column_names": ["a", "b"], "select_columns": ["c"]}, "'c' specified in select_columns"),
        ({"column_names": ["a", "b"], "label_name": "c"}, "must be one of the columns"),
        ({"header": False}, "without a header line"),
    ):
        with pytest.raises(ValueError, match=message):
            make(names, 1, **arguments)

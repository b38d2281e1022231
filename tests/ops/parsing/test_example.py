"""Examples parsed: what is refused, and that threads change nothing. Results: programs/snippets/parsing.py."""

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits

DATA = Path(__file__).parent.parent.parent / "data" / "records"
EXPECTED = json.loads((DATA / "expected.json").read_text())


def feature(value):
    if value is None:
        return tf.train.Feature()
    if not value or isinstance(value[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=value))
    if isinstance(value[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=value))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=value))


def example(**values):
    features = tf.train.Features(feature={key: feature(value) for key, value in values.items()})
    return tf.train.Example(features=features).SerializeToString()


def sequence_example(context, **lists):
    lists = {key: tf.train.FeatureList(feature=[feature(value) for value in values]) for key, values in lists.items()}
    context = tf.train.Features(feature={key: feature(value) for key, value in context.items()})
    feature_lists = tf.train.FeatureLists(feature_list=lists)
    return tf.train.SequenceExample(context=context, feature_lists=feature_lists).SerializeToString()


def run(tensors):
    with tf.Session() as session:
        return session.run(tensors)


ONE = example(a=[1, 2], b=[1.5], s=[b"x"], k=None, empty=[])


def test_examples_of_tensorflow():
    serialized = list(tf.python_io.tf_record_iterator(DATA / "examples_plain.tfrecord"))[:4]
    features = {
        "image/encoded": tf.FixedLenFeature([], tf.string),
        "label": tf.FixedLenFeature([2], tf.int64),
        "score": tf.FixedLenFeature([2], tf.float32),
        "varlen": tf.VarLenFeature(tf.int64),
    }
    parsed = run(tf.parse_example(serialized, features))
    expected = EXPECTED["parse_example_first4"]
    assert [value.hex() for value in parsed["image/encoded"]] == expected["encoded"]
    assert parsed["label"].tolist() == expected["label"] and parsed["score"].tolist() == expected["score"]
    assert parsed["varlen"].indices.tolist() == expected["varlen_indices"]
    assert parsed["varlen"].values.tolist() == expected["varlen_values"]
    assert parsed["varlen"].dense_shape.tolist() == expected["varlen_shape"]


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (
            {"a": tf.FixedLenFeature([3], tf.int64)},
            "Name: <unknown>, Key: a, Index: 1.  Number of int64 values != expected.  Values size: 2 but output",
        ),
        (
            {"a": tf.FixedLenFeature([2], tf.float32)},
            "Key: a, Index: 1.  Data types don't match. Data type: int64 but expected type: float",
        ),
        (
            {"a": tf.VarLenFeature(tf.float32)},
            "Key: a, Index: 1.  Data types don't match. Expected type: float, Actual type: int64",
        ),
        (
            {"q": tf.FixedLenFeature([2], tf.float32)},
            r"Name: <unknown>, Feature: q \(data type: float\) is required but could not be found",
        ),
        ({"k": tf.FixedLenFeature([2], tf.float32)}, "Feature: k .* is required but could not be found"),
        ({"empty": tf.FixedLenFeature([], tf.float32, 2.0)}, r"Values size: 0 but output shape: \[\]"),
        (
            {"a": tf.FixedLenSequenceFeature([3], tf.int64, True)},
            "Number of int64 values is not a multiple of stride",
        ),
    ],
)
def test_examples_that_do_not_fit(features, message):
    fitting = example(a=[1, 2, 3], b=[1.0], q=[1.0, 2.0], k=[1.0, 2.0], empty=[2.0])
    fitting = (
        fitting
        if "a" in features and features["a"].dtype is tf.int64
        else example(q=[1.0, 2.0], k=[1.0, 2.0], empty=[2.0], a=[1.0, 2.0])
    )
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_example([fitting, ONE], features))
    single = message.replace("Name: <unknown>, ", "").replace(", Index: 1", "")
    with pytest.raises(tf.errors.InvalidArgumentError, match=single):
        run(tf.parse_single_example(ONE, features))


def test_names_stand_in_messages():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Name: second, Feature: q"):
        run(
            tf.parse_example(
                [example(q=[1.0]), ONE], {"q": tf.FixedLenFeature([], tf.float32)}, example_names=["first", "second"]
            )
        )
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected len"):
        names = tf.placeholder_with_default(["a", "b", "c"], None)
        run(tf.parse_example([ONE], {"a": tf.VarLenFeature(tf.int64)}, example_names=names))


def test_bytes_that_are_no_example():
    features = {"a": tf.VarLenFeature(tf.int64), "s": tf.FixedLenFeature([], tf.string, "")}
    for data in (b"junk", ONE[:-1], ONE[:5], b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", b"\xff" * 20):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
            run(tf.parse_example([ONE, data], features))


def test_every_damaged_byte_is_survived():
    features = {
        "a": tf.FixedLenFeature([2], tf.int64, [0, 0]),
        "b": tf.VarLenFeature(tf.float32),
        "s": tf.FixedLenSequenceFeature([], tf.string, True),
    }
    data = tf.placeholder(tf.string, [None])
    parsed = tf.parse_example(data, features)
    with tf.Session() as session:
        for i in range(len(ONE)):
            for change in (1, 0x80, 0xFF):
                damaged = ONE[:i] + bytes([ONE[i] ^ change]) + ONE[i + 1 :]
                with contextlib.suppress(tf.errors.InvalidArgumentError):
                    session.run(parsed, {data: [damaged, ONE[:i]]})
        assert session.run(parsed, {data: [ONE]})["a"].tolist() == [[1, 2]]


def test_numbers_may_be_packed_or_not():
    def one(number, kind, content):
        value = bytes([kind, len(content)]) + content
        entry = b"\x0a\x01a\x12" + bytes([len(value)]) + value
        entry = b"\x0a" + bytes([len(entry)]) + entry
        return b"\x0a" + bytes([len(entry)]) + entry

    floats = np.array([1.5, -2.0], "<f4").tobytes()
    unpacked = b"".join(b"\x0d" + floats[i : i + 4] for i in (0, 4))
    for content in (b"\x0a\x08" + floats, unpacked, b"\x0d" + floats[:4] + b"\x0a\x04" + floats[4:]):
        parsed = run(tf.parse_example([one(1, 0x12, content)], {"a": tf.FixedLenFeature([2], tf.float32)}))
        assert parsed["a"].tolist() == [[1.5, -2.0]]
    for content in (b"\x0a\x02\x07\x08", b"\x08\x07\x08\x08", b"\x08\x07\x0a\x01\x08"):
        parsed = run(tf.parse_example([one(1, 0x1A, content)], {"a": tf.FixedLenFeature([2], tf.int64)}))
        assert parsed["a"].tolist() == [[7, 8]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse"):
        run(tf.parse_example([one(1, 0x12, b"\x0a\x03abc")], {"a": tf.FixedLenFeature([1], tf.float32)}))


def test_the_last_of_equal_keys_counts():
    twice = example(a=[1]) + example(a=[2])
    assert run(tf.parse_single_example(twice, {"a": tf.FixedLenFeature([], tf.int64)}))["a"] == 2


def test_nothing_to_parse():
    parsed = run(tf.parse_example([], {"a": tf.VarLenFeature(tf.int64), "b": tf.FixedLenFeature([2], tf.float32)}))
    assert parsed["a"].dense_shape.tolist() == [0, 0] and parsed["b"].shape == (0, 2)


def test_batches_are_the_same_for_every_number_of_threads(rng):
    batch = np.array(
        [
            example(
                a=rng.integers(-(2**62), 2**62, 2).tolist(),
                v=rng.integers(0, 9, i % 5).tolist() or [1],
                s=[bytes(rng.bytes(j)) for j in range(i % 4)] or [b""],
                w=rng.random(i % 3).tolist() or [0.5],
            )
            for i in range(500)
        ],
        object,
    )
    features = {
        "a": tf.FixedLenFeature([2], tf.int64),
        "v": tf.VarLenFeature(tf.int64),
        "s": tf.VarLenFeature(tf.string),
        "w": tf.FixedLenSequenceFeature([], tf.float32, True, 7.0),
    }

    def build():
        parsed = tf.parse_example(tf.constant(batch), features)
        return [parsed["a"], parsed["v"].indices, parsed["v"].values, parsed["s"].values, parsed["w"]]

    assert_same_bits(build)


@pytest.mark.parametrize(
    ("features", "error", "message"),
    [
        ({}, ValueError, "Missing: features was {}"),
        (None, ValueError, "Missing: features was None"),
        ({"a": 3}, ValueError, "Invalid feature a:3"),
        ({"a": tf.FixedLenFeature([None], tf.int64)}, ValueError, "Consider using FixedLenSequenceFeature"),
        ({"a": tf.FixedLenFeature([2, None], tf.int64)}, ValueError, "All dimensions of shape for feature a need"),
        ({"a": tf.FixedLenFeature(None, tf.int64)}, ValueError, "Missing shape for feature a"),
        ({"a": tf.FixedLenFeature([2], None)}, ValueError, "Missing type for feature a"),
        ({"a": tf.VarLenFeature(None)}, ValueError, "Missing type for feature a"),
        ({"a": tf.VarLenFeature(tf.int32)}, TypeError, "DataType int32 not in list of allowed values"),
        ({"a": tf.FixedLenFeature([], tf.int32)}, TypeError, "DataType int32 not in list of allowed values"),
        ({"a": tf.FixedLenFeature([2], tf.int64, [1, 2, 3])}, ValueError, "Cannot reshape a tensor with 3 elements"),
        ({"a": tf.FixedLenSequenceFeature([], tf.int64)}, ValueError, "requires allow_missing to be True"),
        ({"a": tf.FixedLenSequenceFeature([None], tf.int64, True)}, ValueError, "unknown inner dimensions"),
        ({"a": tf.SparseFeature(None, "v", tf.int64, 3)}, ValueError, "Missing index_key for SparseFeature"),
        ({"a": tf.SparseFeature("i", None, tf.int64, 3)}, ValueError, "Missing value_key for SparseFeature"),
        (
            {"v": tf.VarLenFeature(tf.int64), "x": tf.SparseFeature("i", "v", tf.float32, 3)},
            ValueError,
            "Conflicting type",
        ),
        (
            {"v": tf.FixedLenFeature([], tf.int64), "x": tf.SparseFeature("i", "v", tf.int64, 3)},
            ValueError,
            "Dense and sparse keys must not intersect",
        ),
    ],
)
def test_features_that_are_none(features, error, message):
    with pytest.raises(error, match=message):
        tf.parse_example([ONE], features)


def test_shapes_that_are_too_large():
    with pytest.raises((ValueError, tf.errors.OpError)):
        run(tf.parse_example([ONE], {"a": tf.FixedLenFeature([2**31] * 3, tf.int64)}))
    with pytest.raises(tf.errors.OpError):
        run(tf.parse_example([ONE], {"a": tf.FixedLenFeature([2**45], tf.int64)}))


# ---- SequenceExample ----------------------------------------------------------------------------------------------

SEQUENCE = sequence_example({"n": [3]}, emb=[[0.0, 1.0], [2.0, 3.0]], tok=[[1], [2, 3]], mixed=[[1], [1.0]])


@pytest.mark.parametrize(
    ("context", "lists", "message"),
    [
        ({"n": tf.FixedLenFeature([2], tf.int64)}, {}, r"Key: n, Index: 0.  Number of int64 values != expected"),
        (
            {"n": tf.FixedLenFeature([1], tf.float32)},
            {},
            "Context feature: n.  Data types don't match. Expected type: float",
        ),
        ({"n": tf.VarLenFeature(tf.float32)}, {}, "Context feature: n.  Data types don't match"),
        ({"q": tf.FixedLenFeature([2], tf.int64)}, {}, "Context feature 'q' is required but could not be found"),
        ({}, {"q": tf.FixedLenSequenceFeature([2], tf.int64)}, "Feature list 'q' is required but could not be found"),
        ({}, {"tok": tf.FixedLenSequenceFeature([2], tf.int64)}, "Key: tok, Index: 0.  Number of int64 values"),
        (
            {},
            {"emb": tf.FixedLenSequenceFeature([2], tf.int64)},
            "Feature list: emb, Index: 0.  Data types don't match",
        ),
        ({}, {"mixed": tf.VarLenFeature(tf.int64)}, "Feature List: mixed, Index: 1.  Data types don't match"),
    ],
)
def test_sequence_examples_that_do_not_fit(context, lists, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.parse_single_sequence_example(SEQUENCE, context, lists))
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(tf.io.parse_sequence_example([SEQUENCE], context, lists))


def test_sequence_examples_of_nothing():
    assert run(tf.parse_single_sequence_example(b"", {"v": tf.VarLenFeature(tf.int64)}, {}))[0]["v"].values.size == 0
    lists = {"x": tf.FixedLenSequenceFeature([1], tf.int64), "y": tf.VarLenFeature(tf.int64)}
    _, parsed = run(tf.parse_single_sequence_example(sequence_example({}, x=[], y=[]), {}, lists))
    assert parsed["x"].shape == (0, 1) and parsed["y"].dense_shape.tolist() == [0, 0]
    context, parsed, lengths = run(tf.io.parse_sequence_example([], {"n": tf.VarLenFeature(tf.int64)}, lists))
    assert context["n"].dense_shape.tolist() == [0, 0] and parsed["x"].shape == (0, 0, 1) and lengths["x"].size == 0


@pytest.mark.parametrize(
    ("context", "lists", "message"),
    [
        ({}, {}, "Missing features."),
        ({"a": tf.FixedLenSequenceFeature([2], tf.float32)}, {}, "Unsupported FixedLenSequenceFeature"),
        ({}, {"a": tf.FixedLenFeature([2], tf.float32)}, "Unsupported FixedLenFeature"),
        (
            {},
            {"a": tf.FixedLenSequenceFeature([2], tf.float32, default_value=1.0)},
            r"feature_list_dense_defaults\[a\]",
        ),
    ],
)
def test_sequence_features_that_are_none(context, lists, message):
    with pytest.raises(ValueError, match=message):
        tf.parse_single_sequence_example(SEQUENCE, context, lists)


def test_damaged_sequence_examples_are_survived():
    data = tf.placeholder(tf.string, [])
    parsed = tf.parse_single_sequence_example(
        data, {"n": tf.VarLenFeature(tf.int64)}, {"tok": tf.VarLenFeature(tf.int64)}
    )
    with tf.Session() as session:
        for i in range(len(SEQUENCE)):
            for damaged in (SEQUENCE[:i], SEQUENCE[:i] + bytes([SEQUENCE[i] ^ 0x81]) + SEQUENCE[i + 1 :]):
                with contextlib.suppress(tf.errors.InvalidArgumentError):
                    session.run(parsed, {data: damaged})
        assert session.run(parsed, {data: SEQUENCE})[1]["tok"].values.tolist() == [1, 2, 3]

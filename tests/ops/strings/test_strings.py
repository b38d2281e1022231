"""Strings: what is refused, and numbers to the last bit. Results: programs/snippets/texts.py."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import stillflow as tf
from stillflow.testing import assert_same_bits


def run(tensors, feeds=None):
    with tf.Session() as session:
        return session.run(tensors, feeds)


def unknown(value):
    return tf.placeholder_with_default(value, None)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.string_to_number(["1", "abc"]), "StringToNumberOp could not correctly convert string: abc"),
        (lambda: tf.as_string([1], fill="n", width=5), 'Fill argument not supported: "n"'),
        (lambda: tf.as_string([1], fill="%s", width=5), "Fill string must be one or fewer characters"),
        (lambda: tf.as_string([1.0], shortest=True, scientific=True), "Cannot select both scientific and shortest"),
        (lambda: tf.as_string([1], precision=2), "precision not supported for datatype int32"),
        (
            lambda: tf.as_string([True], shortest=True),
            "scientific and shortest format not supported for datatype bool",
        ),
        (lambda: tf.as_string([1], width=2**31 - 1), "must be at most 4096"),
        (lambda: tf.as_string([1.0], precision=10**9), "must be at most 4096"),
        (lambda: tf.string_to_hash_bucket_strong(["a"], 10, [1]), "Key must have 2 elements"),
        (lambda: tf.substr(["abc"], 5, 1), "pos 5 out of range for string b'abc' at index 0"),
        (lambda: tf.substr(["a", "abc"], [0, -5], [1, 1]), "pos -5 out of range for string b'abc' at index 1"),
        (lambda: tf.substr(["abc"], tf.constant(-(2**63)), tf.constant(1, tf.int64)), "out of range for string"),
        (lambda: tf.substr(["a\u00e9"], 3, 1, unit="UTF8_CHAR"), "pos 3 out of range for string at index 0"),
        (
            lambda: tf.substr(unknown(["ab", "c"]), unknown([0, 1, 2]), unknown([1, 1, 1])),
            r"Incompatible shapes: \[2\] vs",
        ),
        (lambda: tf.substr(["ab"], unknown([0]), unknown([1, 1])), "pos and len should have the same shape"),
        (lambda: tf.string_split(unknown("a b")), "input must be a vector"),
        (lambda: tf.string_split(["a b"], unknown(["a", "b"])), "delimiter must be a scalar"),
        (lambda: tf.string_split(["a b"], unknown(["a"])), r"delimiter must be a scalar, got shape: \[1\]"),
        (lambda: tf.strings.split(["a b"], unknown(["a"])), "sep must be a scalar"),
        (lambda: tf.reduce_join([["a"]], [0, 0]), "Duplicate reduction dimension 0"),
        (lambda: tf.reduce_join(unknown([["a"]]), unknown([0, -2])), "Duplicate reduction dimension -2"),
        (lambda: tf.decode_base64("!!!"), "Invalid character found in base64."),
        (lambda: tf.decode_base64("YQ="), "Invalid character found in base64."),
        (lambda: tf.decode_base64("YQ==="), "Base64 string length cannot be 1 modulo 4."),
        (lambda: tf.decode_base64("+/79"), "Invalid character found in base64."),
        (lambda: tf.strings.lower(["a"], encoding="utf-16"), "only utf-8 or '' .no encoding. is supported"),
        (
            lambda: tf.strings.unsorted_segment_join(["a"], [3], 2),
            "segment_ids are not allowed to exceed num_segments",
        ),
        (lambda: tf.strings.unsorted_segment_join(["a"], [-1], 2), "segment_ids are not allowed"),
        (lambda: tf.strings.unsorted_segment_join(["a"], [0], unknown(-1)), "must not be negative"),
        (lambda: tf.string_join([unknown(["a", "b"]), unknown(["c", "d", "e"])]), "Input shapes do not match"),
    ],
)
def test_values_that_are_refused(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def test_dimensions_that_are_not_there():
    with pytest.raises(tf.errors.OutOfRangeError, match="Invalid reduction dimension 5 for input with 2 dimension"):
        run(tf.reduce_join(unknown([["a"]]), unknown([5])))
    with pytest.raises(ValueError, match="Invalid reduction dimension 2 for input with 2 dimensions."):
        tf.reduce_join([["a"]], 2)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: tf.string_split(["a"], result_type="x"), "result_type must be 'RaggedTensor' or 'SparseTensor'"),
        (lambda: tf.strings.split(["a"], result_type="x"), "result_type must be 'RaggedTensor' or 'SparseTensor'"),
        (lambda: tf.string_split("a b"), "Shape must be rank 1 but is rank 0"),
        (lambda: tf.string_split(["a"], ["b", "c"]), "Shape must be rank 0 but is rank 1"),
        (lambda: tf.substr(["abc"], 0, [1, 2]), "Shape must be rank"),
        (lambda: tf.string_to_hash_bucket("a", 0), "Attr 'num_buckets' .* passed 0 less than minimum 1"),
        (lambda: tf.string_to_number("1", input="1"), "Cannot specify both"),
        (lambda: tf.strings.length("a", unit="WORD"), 'passed string .WORD. not in: "BYTE", "UTF8_CHAR"'),
    ],
)
def test_calls_that_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@settings(max_examples=300, deadline=None)
@given(st.from_regex(r"[+-]?([0-9]{1,25}(\.[0-9]{0,25})?|\.[0-9]{1,25})([eE][+-]?[0-9]{1,3})?", fullmatch=True))
def test_floats_are_rounded_to_the_nearest(text):
    with tf.Graph().as_default():
        double, single = run([tf.string_to_number(text, tf.float64), tf.string_to_number(text, tf.float32)])
    assert double.tobytes() == np.float64(float(text)).tobytes()
    assert single.tobytes() == nearest_float(text).tobytes()


def nearest_float(text):
    """The float nearest to a decimal number, without a stop at double."""
    from fractions import Fraction

    with np.errstate(over="ignore"):
        guess = np.float32(float(text))
    if not np.isfinite(guess):
        return guess
    exact = Fraction(text if "." not in text or text[-1] != "." else text + "0")
    with np.errstate(over="ignore"):
        near = [guess, np.nextafter(guess, np.float32(-np.inf)), np.nextafter(guess, np.float32(np.inf))]
    near = [value for value in near if np.isfinite(value)]
    return min(near, key=lambda value: (abs(Fraction(float(value)) - exact), value.view(np.uint32) & 1))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "-",
        ".",
        "e5",
        "1e",
        "1e+",
        "0x",
        "0x1.8",
        "-0x10",
        "1_0",
        "1 2",
        "nan(1)",
        "infinity",
        "\u0663",
        "1\0",
        "--1",
        "1f",
    ],
)
def test_texts_that_are_no_floats(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        run(tf.string_to_number(text))


def test_spaces_alone_are_the_number_0_as_in_tensorflow():
    assert run(tf.string_to_number([" ", "  "])).tolist() == [0, 0]


@pytest.mark.parametrize(
    "text", ["", "+5", "1.0", "2147483648", "-2147483649", "99999999999", "0x10", "1e3", "- 5", "1\0"]
)
def test_texts_that_are_no_integers(text):
    with pytest.raises(tf.errors.InvalidArgumentError, match="could not correctly convert"):
        run(tf.string_to_number(text, tf.int32))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.binary(max_size=20), max_size=5))
def test_base64_is_that_of_python_and_comes_back(items):
    import base64

    with tf.Graph().as_default():
        texts = tf.constant(items, tf.string, [len(items)])
        encoded, padded = tf.encode_base64(texts), tf.encode_base64(texts, pad=True)
        results = run([encoded, padded, tf.decode_base64(encoded), tf.decode_base64(padded)])
    expected = [base64.urlsafe_b64encode(item) for item in items]
    assert results[1].tolist() == expected and results[0].tolist() == [item.rstrip(b"=") for item in expected]
    assert results[2].tolist() == items and results[3].tolist() == items


@settings(max_examples=100, deadline=None)
@given(st.text(" \tab,;", max_size=12), st.sampled_from([None, " ", "a", "ab", ", "]), st.integers(-1, 4))
def test_splitting_is_that_of_python(text, separator, most):
    """But for white space: then TensorFlow's rest after the last split is a part also if it is empty."""
    with tf.Graph().as_default():
        parts = run(tf.strings.split([text], separator, maxsplit=most)).values.tolist()
    expected = text.split(separator, most)
    if separator is None and most >= 0:
        rest = [""] if most > 0 and len(text.split()) == most else []
        expected = [text] if most == 0 else expected + rest
    assert [part.decode() for part in parts] == expected


def test_strings_with_any_bytes_are_carried():
    texts = [b"\0", b"\xff\0\xfe", b"a\0b\0"]
    joined, upper, part, split = run(
        [
            tf.string_join([texts, b"\0"]),
            tf.strings.upper(texts),
            tf.substr(texts, 0, 9),
            tf.string_split(texts, b"\xfe").values,
        ]
    )
    assert joined.tolist() == [text + b"\0" for text in texts] and part.tolist() == texts
    assert upper.tolist() == [b"\0", b"\xff\0\xfe", b"A\0B\0"] and split.tolist() == [b"\0", b"\xff\0", b"a\0b\0"]


def test_the_same_for_every_number_of_threads(rng):
    texts = np.array([rng.bytes(int(size)) for size in rng.integers(0, 40, 5000)], object)
    numbers = rng.standard_normal(5000).astype(np.float32)

    def build(numbers):
        strings = tf.constant(texts)
        written = tf.as_string(numbers, shortest=True, precision=9)
        return [
            tf.string_to_hash_bucket_fast(strings, 1000),
            tf.string_strip(strings),
            tf.encode_base64(strings),
            written,
            tf.string_to_number(written),
            tf.reduce_join(tf.reshape(strings, [50, 100]), [0]),
        ]

    assert_same_bits(build, numbers)
    with tf.Graph().as_default():
        assert (
            run(tf.string_to_number(tf.as_string(numbers, shortest=True, precision=9))).tobytes() == numbers.tobytes()
        )


def test_empty_arrays():
    nothing = tf.constant([], tf.string, [0, 2])
    for tensor in (
        tf.string_to_number(nothing),
        tf.string_strip(nothing),
        tf.substr(nothing, [0, 0], [1, 1]),
        tf.encode_base64(nothing),
        tf.strings.lower(nothing, encoding="utf-8"),
        tf.string_to_hash_bucket_fast(nothing, 3),
    ):
        assert run(tensor).shape == (0, 2)
    assert run(tf.reduce_join(nothing, 0)).tolist() == [b"", b""]
    assert run(tf.reduce_join(nothing, 1)).shape == (0,)


def test_shapes_are_known_as_tensorflow_knows_them():
    p = tf.placeholder
    assert tf.substr(p(tf.string, [3, 1]), p(tf.int32, [4]), p(tf.int32, [4])).shape.as_list() == [3, 4]
    assert tf.reduce_join(p(tf.string, [3, None, 4]), 1).shape.as_list() == [3, 4]
    assert tf.reduce_join(p(tf.string, [3, None]), 1, keepdims=True).shape.as_list() == [3, 1]
    assert tf.string_split(p(tf.string)).indices.shape.as_list() == [None, 2]
    assert tf.string_join([p(tf.string, []), p(tf.string, [2])]).shape.as_list() == [2]


def test_complex_numbers_are_written_part_by_part():
    numbers = tf.constant([1.5 - 2j], tf.complex64)
    wide = tf.as_string(numbers, scientific=True, width=14, fill="0")
    assert run([tf.as_string(numbers, precision=2), wide]) == [
        [b"(1.50,-2.00)"],
        [b"(001.500000e+00,-02.000000e+00)"],
    ]

"""What the ops of Unicode text refuse, as TensorFlow 1.15.5 words it."""

import pytest

import stillflow as tf


def _fails(message, function, *args, **kwargs):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        tf.Session().run(function(*args, **kwargs))


def test_malformed_text_and_numbers():
    strings, malformed = tf.strings, "Invalid formatting on input string"
    for text in (b"\xff", b"a\xc3"):
        _fails(malformed, strings.unicode_decode, text, "UTF-8", errors="strict")
        _fails(malformed, strings.unicode_transcode, text, "UTF-8", "UTF-8", errors="strict")
    _fails(
        malformed, strings.unicode_transcode, b"a\x01", "UTF-8", "UTF-8", errors="strict",
        replace_control_characters=True,
    )  # fmt: skip
    kept = strings.unicode_decode(b"a\x01", "UTF-8", errors="strict", replace_control_characters=True)
    assert tf.Session().run(kept).tolist() == [97, 0xFFFD]
    _fails("valid Unicode range", strings.unicode_encode, [0x110000], "UTF-8", errors="strict")


def test_arguments():
    unknown = "Could not create converter for input encoding: nonsense"
    _fails(unknown, tf.strings.unicode_decode, "a", "nonsense")
    _fails(unknown, tf.strings.unicode_transcode, "a", "nonsense", "UTF-8")
    outside = "replacement_char out of unicode codepoint range"
    _fails(outside, tf.strings.unicode_decode, "a", "UTF-8", replacement_char=0x110000)
    with pytest.raises(ValueError, match="Rank of `input` must be statically known"):
        tf.strings.unicode_decode(tf.placeholder(tf.string), "UTF-8")
    with pytest.raises(ValueError, match="All ngram_widths must be greater than 0. Got 0"):
        tf.strings.ngrams(["a"], 0)
    with pytest.raises(TypeError, match="pad_values must be a string"):
        tf.strings.ngrams(["a"], 1, pad_values=5)


@pytest.mark.parametrize("splits", [[0, 3], [-1, 2]])
def test_rows_outside_of_the_values(splits):
    settings = {"separator": " ", "left_pad": "", "right_pad": "", "pad_width": 0, "preserve_short_sequences": False}
    message = r"Invalid split value -?\d, must be in \[0,2\]"
    _fails(message, lambda: tf.raw_ops.UnicodeEncode(
        input_values=[97, 98], input_splits=splits, output_encoding="UTF-8"))  # fmt: skip
    _fails(message, lambda: tf.raw_ops.StringNGrams(
        data=["a", "b"], data_splits=splits, ngram_widths=[2], **settings)[0])  # fmt: skip


def test_scripts_are_those_of_unicode_11():
    # ICU's numbers, as TensorFlow 1.15.5 gives them: U+1E2C0, of Unicode 12, belongs to none.
    runes = [[ord("a"), ord("\u03b1"), ord("\u0416")], [ord(" "), 0x5B57, 0x1E2C0]]
    scripts = tf.strings.unicode_script(runes)
    assert scripts.shape == (2, 3)
    with tf.Session() as session:
        assert session.run(scripts).tolist() == [[25, 14, 8], [0, 17, 103]]
        assert session.run(tf.strings.unicode_script([-1, 0x10FFFF, 0x110000, 2**31 - 1])).tolist() == [
            -1,
            103,
            -1,
            -1,
        ]
        rows = tf.strings.unicode_script(tf.ragged.constant([[97], [], [0x5B57, 32]]))
        assert session.run(rows).to_list() == [[25], [], [17, 0]]

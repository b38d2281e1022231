"""Summaries: what they refuse, where they are collected. Their bytes are compared in programs/test_snippets.py."""

import io
import struct

import numpy as np
import pytest

import stillflow as tf
from stillflow.testing import assert_same_bits


def run(summary):
    with tf.Session() as session:
        return tf.Summary.FromString(session.run(summary))


def unknown(value):
    return tf.placeholder_with_default(value, None)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: tf.summary.scalar("v", [1.0, 2.0]),
            r"tags and values not the same shape: \[\] != \[2\] \(tag 'v'\)",
        ),
        (lambda: tf.summary.scalar("v", [1.0]), r"\[\] != \[1\] \(tag 'v'\)"),
        (lambda: tf.scalar_summary(["a", "b"], [[1.0, 2.0]]), r"\[2\] != \[1,2\]\n"),
        (lambda: tf.summary.histogram("h", [1.0, np.nan]), "Nan in summary histogram for: h"),
        (lambda: tf.summary.histogram("h", [1.0, -np.inf]), "Infinity in summary histogram for: h"),
        (lambda: tf.histogram_summary(["h"], [1.0]), "tags must be scalar"),
        (lambda: tf.summary.image("i", tf.zeros([1, 2, 2, 5])), r"4-D with last dim 1, 3, or 4, not \[1,2,2,5\]"),
        (lambda: tf.summary.image("i", unknown(np.zeros([2, 2, 3], "f"))), r"not \[2,2,3\]"),
        (lambda: tf.summary.image("i", tf.zeros([1, 0, 2, 3])), r"must have non-zero dims. Found: \[1, 0, 2, 3\]"),
        (lambda: tf.image_summary(["i"], tf.zeros([1, 2, 2, 3])), "Tags must be a scalar"),
        (lambda: tf.summary.audio("a", tf.zeros([4]), 8000.0), r"Tensor must be 3-D or 2-D, got: \[4\]"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 0, 2]), 8000.0), "audio is null"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 3]), 0.0), "sample_rate must be > 0"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 3]), np.nan), "sample_rate must be > 0"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 3]), 1e12), r"sample_rate must be in \(0, 2\^32\)"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 3, 70000]), 1.0), r"num_channels must be in \(0, 2\^16\)"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 1, 60000]), 4e9), "must be less than 2.32"),
        (lambda: tf.summary.audio("a", tf.zeros([1, 1]), [1.0, 2.0]), "sample_rate must be a scalar"),
        (lambda: tf.summary.merge([unknown(b"junk")]), "Could not parse one of the summary inputs"),
        (lambda: tf.summary.merge([unknown(b"\x0a\x05\x0a\x01a")]), "Could not parse one of the summary inputs"),
    ],
)
def test_values_that_are_refused(build, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(build())


def test_calls_that_are_refused():
    for values in (tf.constant("text"), tf.constant(True)):
        with pytest.raises(TypeError, match="Value passed to parameter 'values' has DataType"):
            tf.summary.scalar("s", values)
    with pytest.raises(ValueError, match="Attr 'max_images' of 'ImageSummary' Op passed 0 less than minimum 1"):
        tf.summary.image("i", tf.zeros([1, 2, 2, 1]), max_outputs=0)
    with pytest.raises(ValueError, match="Expected tensor Const.*:0 to have dtype string, got <dtype: 'int32'>"):
        tf.summary.text("t", tf.constant(1))
    with pytest.raises(ValueError, match="List argument 'inputs' to 'MergeSummary' Op with length 0 shorter"):
        tf.summary.merge([])
    with pytest.raises(ValueError, match="Can't get_summary_description on Const"):
        tf.summary.get_summary_description(tf.constant(1).op.node_def)


def test_a_tag_may_occur_once():
    one = tf.summary.scalar("a", 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Duplicate tag a found in summary inputs"):
        run(tf.summary.merge([one, one]))


def test_merging_keeps_what_it_does_not_know():
    value = tf.Summary.Value(tag="a", simple_value=1).SerializeToString() + b"\xf8\x07\x01"
    summary = b"\x0a" + bytes([len(value)]) + value
    with tf.Session() as session:
        assert session.run(tf.summary.merge([tf.constant(summary)])) == summary


def test_collections_and_order():
    assert tf.summary.merge_all() is None and tf.merge_all_summaries() is None
    tf.summary.scalar("b", 1.0)
    tf.summary.scalar("a", 2.0)
    tf.summary.scalar("hidden", 3.0, collections=["other"])
    assert [value.tag for value in run(tf.summary.merge_all()).value] == ["b", "a"]
    assert [value.tag for value in run(tf.summary.merge_all("other")).value] == ["hidden"]
    with tf.name_scope("in"):
        tf.summary.scalar("c", 4.0)
    assert [value.tag for value in run(tf.summary.merge_all(scope="in/")).value] == ["in/c"]


def test_names_before_1_0():
    scalar = tf.scalar_summary(["a", "b/c d"], [1.0, 2.0], name="n")
    assert scalar.op.name == "n"
    assert [value.tag for value in run(scalar).value] == ["a", "b/c d"]
    histogram = tf.histogram_summary("h", [1.0])
    assert histogram.op.name == "HistogramSummary"
    image = tf.image_summary("i", tf.zeros([2, 2, 2, 1]), max_images=2)
    audio = tf.audio_summary("s", tf.zeros([1, 2]), 8000.0, max_outputs=1)
    assert audio.op.name == "AudioSummary/AudioSummaryV2" or audio.op.name == "AudioSummary"
    merged = tf.merge_summary([histogram, image, audio])
    assert [value.tag for value in run(merged).value] == ["h", "i/image/0", "i/image/1", "s/audio"]
    tags = [value.tag for value in run(tf.merge_all_summaries()).value]
    assert tags == ["a", "b/c d", "h", "i/image/0", "i/image/1", "s/audio"]


def test_the_summary_of_many_values_is_the_same_everywhere(rng):
    values = rng.standard_normal(100_000).astype(np.float32)
    images = rng.random((2, 40, 30, 3)).astype(np.float32)
    assert_same_bits(lambda v, i: [tf.summary.histogram("h", v), tf.summary.image("i", i)], values, images)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"])
def test_histogram_of_every_type(dtype):
    values = tf.constant(np.array([0, 1, 2, 100]).astype(dtype))
    histogram = run(tf.summary.histogram("h", values)).value[0].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 100, 4, 103)
    assert histogram.sum_squares == 10005 and sum(histogram.bucket) == 4


def test_histogram_limits_of_the_largest_numbers():
    largest = np.finfo(np.float64).max
    histogram = run(tf.summary.histogram("h", tf.constant([largest, -largest], tf.float64))).value[0].histo
    assert list(histogram.bucket_limit)[-1] == largest and sum(histogram.bucket) == 2


@pytest.mark.parametrize(("width", "height"), [(1, 1), (1, 40), (40, 1), (2, 2), (91, 33), (300, 200)])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_images_are_what_pillow_reads(width, height, channels, rng):
    pillow = pytest.importorskip("PIL.Image")
    pixels = rng.integers(0, 256, (1, height, width, channels), dtype=np.uint8)
    image = run(tf.summary.image("i", tf.constant(pixels), max_outputs=1)).value[0].image
    assert (image.height, image.width, image.colorspace) == (height, width, channels)
    read = np.asarray(pillow.open(io.BytesIO(image.encoded_image_string)))
    np.testing.assert_array_equal(read.reshape(pixels.shape[1:]), pixels[0])


def test_sounds_are_what_the_wave_module_reads():
    import wave

    samples = np.array([[[0.5, -0.5], [2.0, np.nan], [1 / 65536, -1 / 65536]]], np.float32)
    audio = run(tf.summary.audio("a", tf.constant(samples), 11025.4, max_outputs=1)).value[0].audio
    with wave.open(io.BytesIO(audio.encoded_audio_string)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth(), file.getnframes()) == (11025, 2, 2, 3)
        values = struct.unpack("<6h", file.readframes(3))
    assert values == (16384, -16384, 32767, 0, 1, -1)


def test_summaries_from_before_tags_have_the_names_of_their_nodes():
    summary = run(tf.raw_ops.TensorSummary(tensor=[1.0, 1.0], description="d", name="a"))
    (value,) = summary.value
    assert value.node_name == "a"
    np.testing.assert_array_equal(tf.make_ndarray(value.tensor), [1, 1])

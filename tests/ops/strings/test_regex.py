"""RegexReplace and RegexFullMatch: TensorFlow's matches and errors; linear time; damaged texts."""

import time

import numpy as np
import pytest
from recorded_values import assert_same, cases, evaluate

import stillflow as tf


def test_matches_and_errors_are_those_of_tensorflow():
    for case, expected in (parameter.values for parameter in cases("regex")):
        assert_same(evaluate(case), expected)


def run(build, *values):
    with tf.Graph().as_default(), tf.Session() as session:
        placeholders = [tf.placeholder(tf.string) for _ in values]
        return session.run(build(*placeholders), dict(zip(placeholders, values, strict=True)))


@pytest.mark.parametrize("pattern", ["(a*)*b", "(a|a)*b", "(a?){500}a{500}b", "(x+x+)+y", "(?:a|aa)+$"])
def test_time_is_linear(pattern):
    text = "a" * 5000 + "x" * 5000
    start = time.monotonic()
    assert run(lambda x: tf.strings.regex_full_match(x, pattern), [text]).tolist() == [False]
    assert time.monotonic() - start < 10


def test_texts_need_not_be_utf8():
    texts = np.array([b"a\xff\xc3b", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80\xbf"], object)
    replaced = run(lambda x: tf.strings.regex_replace(x, "[^a]", "-"), texts)
    assert replaced[0] == b"a\xff\xc3-" and replaced[1] == b"\xc3"
    assert run(lambda x: tf.strings.regex_replace(x, "b?", "-"), texts)[0] == b"-a-\xff-\xc3-"


def test_patterns_may_be_fed():
    assert run(tf.regex_replace, ["banana"], "an", "<>").tolist() == [b"b<><>a"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Pattern must be scalar"):
        run(lambda x, p: tf.strings.regex_full_match(x, p), ["a"], ["a"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Rewrite must be scalar"):
        run(tf.regex_replace, ["a"], "a", ["a"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="invalid UTF-8"):
        run(tf.regex_replace, ["a"], b"\xff", "b")


def test_large_patterns_are_refused_or_run():
    assert run(lambda x: tf.strings.regex_full_match(x, "a" * 50000), ["a" * 50000]).tolist() == [True]
    with pytest.raises(tf.errors.InvalidArgumentError, match="pattern too large"):
        run(lambda x: tf.strings.regex_full_match(x, "(" + "[ab]c" * 100 + "){1000}"), ["a"])
    with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid pattern"):
        run(lambda x: tf.strings.regex_full_match(x, "(" * 100000), ["a"])


def test_shapes_stay():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.string, [2, None])
        assert tf.strings.regex_replace(x, "a", "b").shape.as_list() == [2, None]
        assert tf.strings.regex_full_match(x, tf.constant("a")).dtype is tf.bool
        with pytest.raises(ValueError, match="rank 0"):
            tf.strings.regex_full_match(x, ["a"])


def test_damaged_patterns_never_crash():
    random = np.random.RandomState(3)
    alphabet = list("ab()[]{}*+?|^$.\\-:<>=!,012PpQExiUms\u00e9")
    with tf.Graph().as_default(), tf.Session() as session:
        pattern = tf.placeholder(tf.string, [])
        match = tf.strings.regex_replace(["abab", "a\u00e9b"], pattern, r"\1")
        wrong = 0
        for _ in range(3000):
            text = "".join(random.choice(alphabet, random.randint(1, 14)))
            try:
                session.run(match, {pattern: text})
            except tf.errors.InvalidArgumentError:
                wrong += 1
        assert 0 < wrong < 3000

"""Text as code points, characters, bytes and n-grams."""

import numpy as np

_TEXTS = {
    "UTF-8": [
        b"", b"a\x00\x1f\x7f", b"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", b"\xc3", b"\xc3(\xe2\x82(", b"\xf0\x9f\x98",
        b"\xff\xfe\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80\xe0\x80\x80", b"\xf8\x88\x80",
        b"\xef\xbb\xbfa",
    ],
    "UTF-16-BE": [
        b"\x00a", b"\x00", b"\xd8\x3d\xde\x00", b"\xd8\x3d\x00a\xde\x00", b"\xfe\xff\x00a\x00", b"\xd8\x3d\xde",
        b"\xd8\x3d\xd8\x3d\xde\x00",
    ],
    "UTF-32-BE": [
        b"\x00\x00\x00a", b"\x00\x01\xf6\x00\x00", b"\x00\x11\x00\x00\x00\x00\xd8\x00",
        b"\xff\xff\xff\xff\x00\x00\x00a",
    ],
    "UTF-16": [b"\xfe\xff\x00a", b"\xff\xfea\x00", b"\x00a"],
    "UTF-32": [b"\x00\x00\x00a"],
    "latin1": [b"\xe9\x80a"],
    "US-ASCII": [b"a\xe9"],
}  # fmt: skip


def _parts(tf, *values):
    return [part for value in values for part in tf.nest.flatten(value, expand_composites=True)]


def decoded(tf):
    results = []
    for encoding in sorted(_TEXTS):
        for settings in ({}, {"errors": "ignore"}, {"replacement_char": 63, "replace_control_characters": True}):
            results += _parts(tf, tf.strings.unicode_decode_with_offsets(_TEXTS[encoding], encoding, **settings))
    ragged = tf.ragged.constant([[b"a", b"\xc3\xa9b"], []])
    results += _parts(
        tf, tf.strings.unicode_decode(b"\xc3\xa9a", "UTF-8"), tf.strings.unicode_decode([[b"a", b"bc"]], "UTF-8"),
        tf.strings.unicode_decode(ragged, "UTF-8"), tf.strings.unicode_decode_with_offsets(b"ab", "UTF-8"),
    )  # fmt: skip
    return results


def encoded(tf):
    results = []
    codes = tf.ragged.constant([[97, 0xD800], [], [0x110000, -1, 98], [0x1F600, 0xFFFE], [0xD83D, 0xDE00]])
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        results.append(tf.strings.unicode_encode(codes, encoding))
        results.append(tf.strings.unicode_encode(codes, encoding, errors="ignore"))
        results.append(tf.strings.unicode_transcode(_TEXTS["UTF-8"], "UTF-8", encoding, replacement_char=63))
    dense = np.array([[[97, 98], [99, 233]]], np.int32)
    nested = tf.ragged.constant([[[97], [98, 99]], []])
    return results + _parts(
        tf, tf.strings.unicode_encode(dense, "UTF-8"), tf.strings.unicode_encode(dense[0], "UTF-8"),
        tf.strings.unicode_encode(dense[0, 0], "UTF-8"), tf.strings.unicode_encode(nested, "UTF-8"),
    )  # fmt: skip


def split(tf):
    ragged = tf.ragged.constant([[b"a", b"bc"], []])
    return _parts(
        tf, tf.strings.unicode_split(_TEXTS["UTF-8"], "UTF-8"),
        tf.strings.unicode_split_with_offsets([b"\x00a\xd8\x3d\xde\x00"], "UTF-16-BE"),
        tf.strings.unicode_split(b"\xc3\xa9a", "UTF-8"), tf.strings.bytes_split(b"ab"),
        tf.strings.bytes_split([b"ab", b""]), tf.strings.bytes_split([[b"ab", b"c"]]), tf.strings.bytes_split(ragged),
    )  # fmt: skip


def n_grams(tf):
    rows = tf.ragged.constant([["a"], ["a", "b", "c"]])
    nested = tf.ragged.constant([[["a", "b"]], []], ragged_rank=2)
    settings = (
        {}, {"pad_values": ("L", "R")}, {"pad_values": "P", "padding_width": 1, "separator": ""},
        {"preserve_short_sequences": True},
    )  # fmt: skip
    results = []
    for each in settings:
        results += _parts(
            tf, tf.strings.ngrams(rows, 2, **each), tf.strings.ngrams(rows, [3, 1], **each),
            tf.strings.ngrams(["a", "b", "c"], [2], **each), tf.strings.ngrams([["a", "b"], ["c", "d"]], 2, **each),
        )  # fmt: skip
    return results + _parts(
        tf, tf.strings.ngrams(nested, 2), tf.strings.ngrams(rows, 4, preserve_short_sequences=True)
    )  # fmt: skip

"""Summary ops: their nodes, tags, and the bytes that they write."""

import numpy as np


def _random(shape, scale=1.0, dtype=np.float32):
    return (np.random.RandomState(len(shape)).randn(*shape) * scale).astype(dtype)


def scalars(tf):
    x = tf.constant(2.0)
    with tf.name_scope("losses"):
        a = tf.summary.scalar("loss", x)
        b = tf.summary.scalar("loss", x * 1.5)
        c = tf.summary.scalar("/bad name!", tf.constant(7))
    d = tf.summary.scalar("x/y", 3.5, family="fam")
    with tf.name_scope("o"):
        e = tf.summary.scalar("f", x, family="F a", collections=["mine"])
    return [a, b, c, d, e, tf.summary.merge_all(), tf.summary.merge([a, e], name="both")]


def scalar_types(tf):
    types = [tf.float64, tf.int32, tf.uint8, tf.int16, tf.int8, tf.int64, tf.float16, tf.uint16, tf.bfloat16]
    summaries = [
        tf.summary.scalar("s", tf.cast(tf.constant(-3.7 if i % 2 == 0 else 7.3), t)) for i, t in enumerate(types)
    ]
    special = [float("nan"), float("-inf"), -0.0, 1e-45]
    return summaries + [tf.summary.scalar("special", value) for value in special]


def histograms(tf):
    values = tf.constant(_random([500], 3.0))
    with tf.name_scope("h"):
        a = tf.summary.histogram("normal", values)
    b = tf.summary.histogram("fam", values, family="f", collections=[])
    extremes = np.array([0.0, -0.0, 1e-13, -1e-13, 1e-12, -1e-12, 1e20, -1e20, 1.7e308, -1.7976931348623157e308, 1.0])
    c = tf.summary.histogram("extremes", tf.constant(extremes))
    d = tf.summary.histogram("empty", tf.zeros([0]))
    e = tf.summary.histogram("same", tf.constant([3.0] * 5))
    f = [
        tf.summary.histogram("t", tf.cast(values, t)) for t in (tf.int32, tf.uint8, tf.float16, tf.int64, tf.bfloat16)
    ]
    return [a, b, c, d, e, *f, tf.summary.merge_all()]


def images(tf):
    a = tf.summary.image("positive", tf.constant(np.abs(_random([4, 5, 6, 3]))))
    b = tf.summary.image("signed", tf.constant(_random([2, 7, 3, 1])), max_outputs=1)
    c = tf.summary.image("bytes", tf.constant(np.arange(2 * 8 * 9 * 4, dtype=np.uint8).reshape(2, 8, 9, 4)), 9)
    d = tf.summary.image("family", tf.constant(_random([1, 2, 2, 3], dtype=np.float64)), family="f")
    e = tf.summary.image("half", tf.constant(_random([1, 16, 16, 3]).astype(np.float16)))
    f = tf.summary.image("small", tf.constant(_random([1, 1, 1, 3])))
    g = tf.summary.image("row", tf.constant(_random([1, 1, 300, 1])))
    h = tf.summary.image("column", tf.constant(_random([1, 300, 1, 1])))
    smooth = np.add.outer(np.arange(64.0), np.arange(96) ** 2 / 400.0)[None, :, :, None].astype(np.float32)
    i = tf.summary.image("smooth", tf.constant(smooth))
    return [a, b, c, d, e, f, g, h, i]


def images_not_finite(tf):
    bad = np.zeros([1, 2, 3, 3], np.float32)
    bad[0, 0] = [[1, 2, 3], [np.nan, 0, 0], [0.5, np.inf, 0]]
    a = tf.summary.image("rgb", tf.constant(bad))
    b = tf.summary.image("gray", tf.constant(bad[..., :1] - 0.5))
    c = tf.summary.image("rgba", tf.constant(np.concatenate([bad, bad[..., :1]], 3)))
    d = tf.summary.image("zeros", tf.zeros([1, 2, 2, 1]))
    e = tf.summary.image("ones", tf.ones([1, 2, 2, 1]))
    f = tf.summary.image("tiny", tf.fill([1, 2, 2, 1], 1e-7))
    g = tf.summary.image("large", tf.constant(np.float64([[[[1e300], [1.0]]]])))
    h = tf.summary.image("nothing_finite", tf.fill([1, 2, 2, 1], np.float32(np.nan)))
    return [a, b, c, d, e, f, g, h]


def a_large_image(tf):
    return [
        tf.summary.image(
            "noise", tf.constant(np.random.RandomState(0).randint(0, 256, [1, 64, 60, 3]).astype(np.uint8))
        )
    ]


def sounds(tf):
    rounding = np.array([[-1.5, -0.5, 0.5, 1.5, 2.5, 40000, -40000]], np.float32) / 32768
    a = tf.summary.audio("a", tf.constant(_random([4, 20, 2], 0.5)), 44100.0)
    b = tf.summary.audio("mono", tf.constant(rounding), 8000, max_outputs=1, family="f")
    c = tf.summary.audio("odd_rate", tf.zeros([1, 3, 1]), tf.constant(22050.7), collections=["c"])
    return [a, b, c]


def tensors(tf):
    metadata = tf.SummaryMetadata()
    metadata.plugin_data.plugin_name = "mine"
    metadata.plugin_data.content = b"\x00\xff"
    a = tf.summary.tensor_summary("t", tf.constant(_random([2, 3])), summary_metadata=metadata)
    b = tf.summary.tensor_summary("d", tf.constant([[b"x", b""]]), "described", display_name="shown", family="f")
    c = tf.summary.text("text", tf.constant(["*a*", "b"]))
    d = [tf.summary.tensor_summary("x", tf.constant(v)) for v in (True, np.zeros([0, 2], np.int64), np.float16(2), 3)]
    return [a, b, c, *d]


def merged_of_arrays(tf):
    a, b = tf.summary.scalar("a", 1.0), tf.summary.scalar("b", 2.0)
    nothing = tf.constant(b"")
    return [tf.summary.merge([tf.stack([a, b]), nothing]), tf.summary.merge([nothing])]

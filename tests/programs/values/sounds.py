"""WAV files: what is read of them and written, and what is said of damaged ones."""

import struct

import numpy as np

from programs.values import case

SAMPLES = np.array([[0, -1], [1, 0.5], [-0.25, 2], [1e-5, -3], [0.99999, 3 / 65536]])


def _file(**changes):
    fields = {
        "size": 16, "format": 1, "channels": 2, "rate": 8000, "per_second": 32000, "per_frame": 4, "bits": 16,
        "before": b"", "after": b"", "data": struct.pack("<6h", 1, -1, 32767, -32768, 256, 3), "count": 12,
        "riff": b"RIFF", "wave": b"WAVE", "fmt": b"fmt ",
    }  # fmt: skip
    fields.update(changes)
    parts = [fields["riff"], b"\0\0\0\0", fields["wave"], fields["fmt"]]
    numbers = [fields[name] for name in ("size", "format", "channels", "rate", "per_second", "per_frame", "bits")]
    parts.append(struct.pack("<IHHIIHH", *numbers))
    parts.append(b"\0\0" if fields["size"] == 18 else b"")
    parts += [fields["before"], b"data", struct.pack("<I", fields["count"]), fields["data"], fields["after"]]
    return b"".join(parts)


FILES = {
    "plain": _file(),
    "with_extension": _file(size=18),
    "with_other_chunks": _file(before=b"LIST" + struct.pack("<I", 3) + b"abc", after=b"odd!" + struct.pack("<I", 9)),
    "mono": _file(channels=1, per_frame=2, per_second=16000),
    "half_a_frame": _file(count=11),
    "no_samples": _file(count=0, data=b""),
    "no_riff": _file(riff=b"RIFX"),
    "no_wave": _file(wave=b"AVI "),
    "no_format": _file(fmt=b"fmt_"),
    "large_format": _file(size=40),
    "compressed": _file(format=3),
    "no_channels": _file(channels=0),
    "eight_bits": _file(bits=8),
    "frame_size": _file(per_frame=2),
    "byte_rate": _file(per_second=3),
    "short": _file(count=14),
    "long_chunk": _file(before=b"LIST" + struct.pack("<I", 2**31)),
    "data_twice": _file(after=b"data" + struct.pack("<I", 0)),
    "no_data": _file()[:36],
    "cut_header": _file()[:30],
    "cut_chunk": _file()[:42],
    "empty": b"",
}


def cases(tf):
    def decoded(channels=-1, samples=-1):
        def build(contents):
            audio, rate = tf.audio.decode_wav(contents, channels, samples)
            return tf.concat([tf.cast(rate, tf.float32)[None], tf.reshape(audio, [-1])], 0)

        return build

    def encoded(samples, rate):
        return tf.decode_raw(tf.audio.encode_wav(samples, rate), tf.uint8)

    found = {"decode_" + name: case(decoded(), ("string", np.array(file, object))) for name, file in FILES.items()}
    plain = ("string", np.array(FILES["plain"], object))
    found["decode_more"] = case(decoded(3, 5), plain)
    found["decode_less"] = case(decoded(1, 2), plain)
    found["decode_nothing"] = case(decoded(0, 0), plain)
    found["decode_negative"] = case(decoded(-2), plain)
    found["decode_negative_samples"] = case(decoded(1, -2), plain)
    found["decode_vector"] = case(decoded(), ("string", np.array([b"a"])), known=False)
    for name, samples, rate in (
        ("plain", SAMPLES, 44100),
        ("mono", SAMPLES[:, :1], 8000),
        ("no_rate", SAMPLES, 0),
        ("no_samples", SAMPLES[:0], 8000),
        ("no_channels", SAMPLES[:, :0], 8000),
        ("many_channels", np.zeros((1, 65536)), 8000),
        ("vector", SAMPLES[0], 8000),
        ("rates", SAMPLES, [8000]),
    ):
        inputs = (("float32", samples), ("int32", np.array(rate)))
        found["encode_" + name] = case(encoded, *inputs, known=False)
    return found

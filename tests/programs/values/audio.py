"""Spectrograms and cepstral coefficients; packed comparisons; elements by their place in order."""

import numpy as np

from programs.values import case

TONES = np.sin(np.arange(800).reshape(400, 2) * 0.2) + 0.1 * np.cos(np.arange(800).reshape(400, 2) ** 1.5)


def cases(tf):
    raw = tf.raw_ops
    found = {}
    for size, stride, squared in ((256, 128, True), (100, 60, False), (400, 1, True), (500, 3, True), (1, 1, True)):
        found["spectrogram_{}_{}".format(size, stride)] = case(
            lambda x, size=size, stride=stride, squared=squared: raw.AudioSpectrogram(
                input=x, window_size=size, stride=stride, magnitude_squared=squared
            ),
            ("float32", TONES),
        )
    found["spectrogram_of_vector"] = case(
        lambda x: raw.AudioSpectrogram(input=x, window_size=4, stride=1), ("float32", TONES[:, 0]), known=False
    )
    for channels, count in ((40, 13), (20, 20), (10, 11)):
        found["mfcc_{}_{}".format(channels, count)] = case(
            lambda x, channels=channels, count=count: raw.Mfcc(
                spectrogram=x,
                sample_rate=tf.constant(16000),
                filterbank_channel_count=channels,
                dct_coefficient_count=count,
            ),
            ("float32", np.square(np.arange(2 * 3 * 257).reshape(2, 3, 257) % 91)),
        )
    for dtype in ("float16", "float32", "float64", "int8", "int16", "int32", "int64"):
        found["bitpack_" + dtype] = case(
            lambda x, t: raw.CompareAndBitpack(input=x, threshold=t),
            (dtype, np.arange(48).reshape(2, 24) % 7 - 2),
            (dtype, 1),
        )
    found["bitpack_bool"] = case(
        lambda x, t: raw.CompareAndBitpack(input=x, threshold=t), ("bool", np.arange(16) % 3), ("bool", False)
    )
    found["bitpack_uneven"] = case(
        lambda x, t: raw.CompareAndBitpack(input=x, threshold=t), ("int32", np.arange(9)), ("int32", 1), known=False
    )
    for dtype in ("float16", "float32", "float64", "uint8", "int16", "int32", "int64"):
        for reverse in (False, True):
            found["nth_{}_{}".format(dtype, reverse)] = case(
                lambda x, reverse=reverse: raw.NthElement(input=x, n=2, reverse=reverse),
                (dtype, np.arange(40).reshape(2, 2, 10) * 7 % 11),
            )
    for n in (-1, 5):
        found["nth_refused_{}".format(n)] = case(
            lambda x, n: raw.NthElement(input=x, n=n), ("float32", np.ones([2, 5])), ("int32", n), known=False
        )
    return found

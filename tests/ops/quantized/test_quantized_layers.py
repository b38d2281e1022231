"""Quantized ops: the same bits for any number of threads and instruction set, and what they refuse."""

import numpy as np
import pytest

import stillflow as tf
from stillflow.errors import InvalidArgumentError
from stillflow.testing import assert_same_bits, new_session


def as_bytes(rng, *shape):
    return tf.bitcast(rng.integers(0, 256, shape).astype(np.uint8), tf.quint8)


def test_same_bits(rng):
    floats = rng.normal(size=(300, 1000)).astype(np.float32)

    def build():
        x = tf.constant(floats)
        codes, low, high = tf.quantize(x, -3.0, 2.0, tf.quint8, "MIN_FIRST")
        product = tf.raw_ops.QuantizedMatMul(
            a=codes, b=codes, min_a=low, max_a=high, min_b=low, max_b=high, transpose_b=True
        )
        return [
            tf.dequantize(codes, low, high, "MIN_FIRST"),
            tf.quantization.quantize_and_dequantize(x, 0.0, 0.0),
            tf.bitcast(product[0], tf.int32),
            tf.math.cumulative_logsumexp(x, 1),
            tf.linalg.sqrtm(tf.matmul(x[:20], x[:20], transpose_b=True)),
            tf.linalg.logm(tf.complex(x[:30, :30], x[30:60, :30])),
        ]

    assert_same_bits(build)


def test_refusals(rng):
    with new_session() as session:
        images, filters = as_bytes(rng, 1, 4, 4, 2), as_bytes(rng, 2, 2, 2, 3)
        x = tf.constant([1.0])
        cases = [
            (tf.quantize(x, 1.0, 0.0, tf.quint8)[0], "input_max_range must be larger"),
            (tf.quantize(x, 0.0, 1.0, tf.quint8, round_mode="HALF_TO_EVEN")[0], "only supported for mode 'SCALED'"),
            (tf.quantization.quantize_and_dequantize(x, 0.0, 1.0, num_bits=62), "num_bits is out of range: 62"),
            (tf.quantization.quantize_and_dequantize(x, 2.0, 1.0, range_given=True), "Invalid range"),
            (
                tf.nn.quantized_conv2d(images, filters, 0.0, 1.0, 0.0, 1.0, [1, 1, 2, 1], "SAME")[0],
                "only supports equal length strides",
            ),
            (
                tf.raw_ops.QuantizedMatMul(
                    a=as_bytes(rng, 2, 2), b=as_bytes(rng, 2, 2), min_a=1.0, max_a=1.0, min_b=0.0, max_b=1.0
                )[0],
                "max_a must be larger than min_a",
            ),
        ]
        for tensor, message in cases:
            with pytest.raises(InvalidArgumentError, match=message):
                session.run(tensor)

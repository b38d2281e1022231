"""Numbers as integers of few bits, and layers on them."""

import numpy as np


def _numbers(*shape):
    return np.round(np.random.RandomState(11).normal(size=shape) * 64).astype(np.float32) / 32


def _bytes(tf, *shape):
    return tf.bitcast(np.random.RandomState(sum(shape)).randint(0, 256, shape).astype(np.uint8), tf.quint8)


def _values(tf, outputs):
    """Outputs whose integers are shown as such."""
    plain = {tf.qint8: tf.int8, tf.quint8: tf.uint8, tf.qint16: tf.int16, tf.quint16: tf.uint16, tf.qint32: tf.int32}
    return [tf.bitcast(x, plain[x.dtype]) if x.dtype in plain else x for x in outputs]


def quantize(tf):
    x = tf.constant(_numbers(3, 50))
    results = []
    for dtype in (tf.quint8, tf.qint8, tf.quint16, tf.qint16, tf.qint32):
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            output, low, high = tf.quantize(x, -1.5, 2.75, dtype, mode)
            results += [*_values(tf, [output, low, high]), tf.dequantize(output, low, high, mode)]
    for low, high in ((0.0, 0.0), (1.0, 2.0), (-3.0, -1.0)):
        results += _values(tf, tf.quantize_v2(x, low, high, tf.quint8, "MIN_FIRST", name="named"))
    even = tf.quantization.quantize(x, -2.0, 2.0, tf.qint8, "SCALED", "HALF_TO_EVEN")
    return results + _values(tf, even)


def join(tf):
    a, b, c = _bytes(tf, 2, 3), _bytes(tf, 2, 1), _bytes(tf, 2, 4)
    same = tf.quantized_concat(1, [a, b, c], [-1.0, -2.0, 0.5], [1.0, 2.0, 3.0])
    words = [tf.bitcast(np.array([x, -x, 0], np.int32), tf.qint32) for x in (1 << 29, 1 << 10)]
    return _values(tf, same) + _values(
        tf, tf.quantization.quantized_concat(0, words, [-1.0, -4.0], [1.0, 3.0], name="named")
    )


def round_trips(tf):
    x = tf.constant(_numbers(4, 9))
    function = tf.quantization.quantize_and_dequantize
    results = [
        function(x, 0.0, 0.0), function(x, -1.0, 2.0, range_given=True), function(x, 0.0, 2.0, False, 4, True),
        function(x, -1.0, 1.0, True, 3, True, "HALF_UP", narrow_range=True, name="named"),
        function(tf.cast(x, tf.float64), np.float64(0), np.float64(0), num_bits=5),
        tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=-1.0, input_max=1.5, num_bits=6),
    ]  # fmt: skip
    return results + tf.gradients(results[1], x)


def narrow(tf):
    sums = tf.bitcast(np.random.RandomState(1).randint(-(1 << 28), 1 << 28, (5, 7)).astype(np.int32), tf.qint32)
    low, high = tf.raw_ops.RequantizationRange(input=sums, input_min=-40.0, input_max=40.0)
    fitting = tf.raw_ops.Requantize(
        input=sums, input_min=-40.0, input_max=40.0, requested_output_min=low, requested_output_max=high,
        out_type=tf.quint8)  # fmt: skip
    shrunk = tf.raw_ops.QuantizeDownAndShrinkRange(input=sums, input_min=-40.0, input_max=40.0, out_type=tf.quint8)
    return [low, high] + _values(tf, fitting) + _values(tf, shrunk)


def layers(tf):
    raw = tf.raw_ops
    images, filters = _bytes(tf, 2, 7, 6, 3), _bytes(tf, 3, 2, 3, 4)
    results = []
    for stride in (1, 2, 4):
        for padding in ("SAME", "VALID"):
            results += tf.nn.quantized_conv2d(images, filters, -1.0, 2.0, -0.5, 0.5, [1, stride, stride, 1], padding)
    for padding in ("SAME", "VALID"):
        results += tf.nn.quantized_max_pool(images, -1.0, 2.0, [1, 2, 3, 1], [1, 2, 2, 1], padding)
        results += tf.nn.quantized_avg_pool(images, -1.0, 2.0, [1, 3, 2, 1], [1, 2, 1, 1], padding)
    a, b = _bytes(tf, 4, 5), _bytes(tf, 5, 3)
    results += raw.QuantizedMatMul(a=a, b=b, min_a=-1.0, max_a=1.0, min_b=0.0, max_b=3.0)
    results += raw.QuantizedMatMul(a=b, b=a, min_a=-1.0, max_a=1.0, min_b=0.0, max_b=3.0, transpose_a=True,
                                   transpose_b=True)  # fmt: skip
    bias = _bytes(tf, 5)
    results += raw.QuantizedBiasAdd(input=a, bias=bias, min_input=-1.0, max_input=1.0, min_bias=-0.25, max_bias=3.0,
                                    out_type=tf.qint32)  # fmt: skip
    for op in (raw.QuantizedAdd, raw.QuantizedMul):
        results += op(x=a, y=bias, min_x=-1.0, max_x=1.0, min_y=-0.25, max_y=3.0)
        results += op(x=a, y=a, min_x=-1.0, max_x=1.0, min_y=-2.0, max_y=3.0)
    results += raw.QuantizedRelu(features=a, min_features=-1.0, max_features=8.0)
    results += raw.QuantizedRelu6(features=a, min_features=-1.0, max_features=8.0)
    return _values(tf, results)

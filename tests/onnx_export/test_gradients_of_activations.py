"""Graphs with gradients of their own compute them in onnxruntime, too."""

import numpy as np
import pytest
from onnx_export.running import check

import stillflow as tf

NAMES = "sigmoid tanh reciprocal sqrt rsqrt nn.softplus nn.softsign nn.relu nn.relu6 nn.leaky_relu nn.elu nn.selu"


@pytest.mark.parametrize("name", NAMES.split())
def test_elementwise(name, tmp_path):
    def build(x):
        function = tf
        for part in name.split("."):
            function = getattr(function, part)
        given = tf.abs(x) + 0.5 if name in ("sqrt", "rsqrt", "reciprocal") else 4.0 * x
        return [tf.gradients(function(given), given)[0]]

    check(tmp_path, build, ([3, 4], tf.float32))


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_biases(data_format, tmp_path):
    def build(x):
        bias = tf.constant(np.arange(5 if data_format == "NHWC" else 3, dtype=np.float32))
        y = tf.nn.bias_add(x, bias, data_format=data_format)
        return [tf.gradients(tf.square(y), bias)[0]]

    check(tmp_path, build, ([2, 3, 4, 5], tf.float32), rtol=1e-4)


def test_what_a_network_is_sensitive_to(tmp_path):
    weights = np.random.default_rng(0).standard_normal([4, 6]).astype(np.float32)

    def build(x):
        hidden = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), tf.constant(np.ones(6, np.float32))))
        logits = tf.matmul(tf.tanh(hidden), tf.constant(weights.T))
        return [tf.gradients(tf.square(logits), x)[0]]

    check(tmp_path, build, ([3, 4], tf.float32))

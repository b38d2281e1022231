"""What tensorflow.python.tools makes of graphs: stripped, and rewritten for inference."""

import importlib

import numpy as np


def _tool(tf, name):
    root = "tensorflow" if tf.__name__.startswith("tensorflow") else tf.__name__
    return importlib.import_module(root + ".python.tools." + name)


def _normalized(tf, x, old):
    """A convolution, a depthwise one, and the batch normalizations of both."""
    size = 4
    weights = tf.constant(np.linspace(-1, 1, 3 * 3 * 2 * size).reshape(3, 3, 2, size), tf.float32, name="weights")
    by_depth = tf.constant(np.linspace(-1, 2, 2 * 2 * size).reshape(2, 2, size, 1), tf.float32, name="by_depth")
    convolved = tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME", name="conv")
    found = _norm(tf, convolved, old, "norm")
    return _norm(tf, tf.nn.depthwise_conv2d_native(found, by_depth, [1, 1, 1, 1], "VALID"), old, "depthwise_norm")


def _norm(tf, x, old, name):
    mean, var, beta, gamma = (
        tf.constant(values, tf.float32, name=name + "_" + part)
        for part, values in (
            ("mean", [0.1, -0.5, 0.25, 2.0]),
            ("var", [1.0, 0.5, 2.0, 0.1]),
            ("beta", [0.3, 0.0, -1.0, 0.7]),
            ("gamma", [1.0, 2.0, 0.5, -1.5]),
        )
    )
    if old:
        return tf.nn.batch_norm_with_global_normalization(x, mean, var, beta, gamma, 0.01, old == "scaled", name=name)
    op = tf.raw_ops.FusedBatchNorm(
        x=x, scale=gamma, offset=beta, mean=mean, variance=var, epsilon=0.001, is_training=False, name=name
    )
    return op.y


def _optimized(build, **settings):
    def snippet(tf):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [1, 5, 5, 2], name="x")
            tf.identity(tf.identity(build(tf, tf.identity(x))), name="out")
        found = _tool(tf, "optimize_for_inference_lib").optimize_for_inference(
            graph.as_graph_def(), ["x"], ["out"], tf.float32.as_datatype_enum, **settings
        )
        x = tf.constant(np.linspace(0, 1, 50).reshape(1, 5, 5, 2), tf.float32)
        return tf.import_graph_def(found, {"x": x}, ["out:0"], name="")

    return snippet


fused_norms = _optimized(lambda tf, x: _normalized(tf, x, old=""))
depthwise_as_it_is = _optimized(
    lambda tf, x: tf.image.resize_bilinear(_normalized(tf, x, old=""), [7, 7]), toco_compatible=True
)


def stripped(tf):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        y = tf.add(tf.exp(x, name="exp"), tf.placeholder(tf.float32, [2], name="b"), name="y")
        tf.square(y, name="unused")
    found = _tool(tf, "strip_unused_lib").strip_unused(
        graph.as_graph_def(), ["exp", "b"], ["y"], [tf.float32.as_datatype_enum] * 2
    )
    return tf.import_graph_def(
        found, {"exp": tf.constant([1.0, 2.0]), "b": tf.constant([3.0, 4.0])}, ["y:0"], name=""
    )

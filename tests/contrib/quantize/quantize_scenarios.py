"""Graphs that tf.contrib.quantize rewrites: as TensorFlow 1.15.5's, in golden/quantized_graphs.json."""

import hashlib

import numpy as np


def _normalized(tf, training, fused):
    slim = tf.contrib.slim
    parameters = {"is_training": training, "fused": fused, "scale": True, "decay": 0.9}
    return {"normalizer_fn": slim.batch_norm, "normalizer_params": parameters}


def _network(tf, normalizer, has_bypass=False, has_later_bypass=False, is_fully_connected=False):
    slim = tf.contrib.slim
    x = tf.placeholder(tf.float32, [2, 8, 8, 3])
    layers = [slim.conv2d, slim.separable_conv2d, slim.fully_connected]
    with slim.arg_scope(layers, activation_fn=tf.nn.relu6, **normalizer):
        y = slim.conv2d(x, 8, [3, 3], scope="first")
        y = slim.separable_conv2d(y, None, [3, 3], depth_multiplier=1, scope="depthwise")
        if has_bypass:
            y = tf.nn.relu6(slim.conv2d(y, 8, [1, 1], scope="second", activation_fn=None) + y)
        if has_later_bypass:
            y = tf.add(y, slim.conv2d(y, 8, [1, 1], scope="third"))
        if is_fully_connected:
            y = slim.fully_connected(slim.flatten(y), 6, scope="hidden")
        else:
            y = tf.reduce_mean(y, [1, 2])
        return x, slim.fully_connected(y, 5, activation_fn=None, normalizer_fn=None, scope="last")


def _networks(tf):
    return {
        "fused": lambda: _network(tf, _normalized(tf, True, True)),
        "fused_bypasses": lambda: _network(tf, _normalized(tf, True, True), True, True),
        "fused_running": lambda: _network(tf, _normalized(tf, False, True), True),
        "plain": lambda: _network(tf, _normalized(tf, True, False)),
        "plain_running": lambda: _network(tf, _normalized(tf, False, False), is_fully_connected=True),
        "none": lambda: _network(tf, {}, True, True),
        "fully_connected": lambda: _network(tf, _normalized(tf, True, True), is_fully_connected=True),
    }


def _rewritings(tf):
    quantize = tf.contrib.quantize
    return {
        "training": lambda: quantize.create_training_graph(quant_delay=3),
        "eval": quantize.create_eval_graph,
        "four_bits": lambda: quantize.experimental_create_training_graph(
            weight_bits=4, activation_bits=4, symmetric=True, freeze_bn_delay=2
        ),
        "scope": lambda: quantize.experimental_create_eval_graph(scope="first"),
    }


def _digest(graph):
    lines = [f"{node.name} {node.op} {list(node.input)}" for node in graph.as_graph_def().node]
    return f"{len(lines)} {hashlib.md5(chr(10).join(lines).encode()).hexdigest()[:8]}"


def _losses(tf, x, y):
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y - 1)))
    loss = tf.reduce_mean(tf.square(y - 1))
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    found = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(5):
            feed = {x: np.random.RandomState(i).rand(2, 8, 8, 3)}
            session.run(train, feed)
            session.run(updates, feed)  # apart: TensorFlow reads averages before or after, as it comes
            found.append(float(session.run(loss, feed)))
    return found


def outcome(tf, network, rewriting):
    """[the number of nodes and a digest, the same with gradients, losses of training]."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(3)
        x, y = _networks(tf)[network]()
        try:
            _rewritings(tf)[rewriting]()
        except Exception as error:  # whatever it is, it has to be the same
            return [type(error).__name__]
        found = [_digest(graph)]
        if rewriting == "training":
            losses = _losses(tf, x, y)
            found += [_digest(graph), losses]
        return found


CASES = [
    (network, rewriting)
    for network in ("fused", "fused_bypasses", "fused_running", "plain", "plain_running", "none", "fully_connected")
    for rewriting in ("training", "eval", "four_bits", "scope")
]


def outcomes(tf):
    return {f"{network}/{rewriting}": outcome(tf, network, rewriting) for network, rewriting in CASES}

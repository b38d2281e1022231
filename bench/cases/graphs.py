"""What a graph costs before it runs: building 28,000 nodes with gradients, and their first run."""

import numpy as np

from bench.cases.registry import TENSORFLOWS, case, open_session


def _build(tf):
    """A chain of 1,500 small layers that share 20 matrices, and an update of each."""
    x = layer = tf.placeholder(tf.float32, [32, 16])
    weights = [tf.Variable(tf.fill([16, 16], 0.1)) for _ in range(20)]
    for i in range(1500):
        layer = tf.tanh(tf.matmul(layer, weights[i % 20]) + 0.1) * 0.5
    loss = tf.reduce_mean(layer)
    gradients = tf.gradients(loss, weights)
    updates = [tf.assign_sub(weights[i], 0.1 * gradients[i]) for i in range(20)]
    return x, [loss, *updates], tf.global_variables_initializer()


@case("building a graph of 28,000 nodes, with gradients", TENSORFLOWS, threads=(1,), bar=2)
def building(tf, threads):
    def run():
        with tf.Graph().as_default():
            _build(tf)

    return run


@case("building it and running it for the first time", TENSORFLOWS, threads=(1,), bar=2)
def first_run(tf, threads):
    value = np.ones((32, 16), np.float32)

    def run():
        with tf.Graph().as_default():
            x, fetches, init = _build(tf)
            session = open_session(tf, threads)
            session.run(init)
            session.run(fetches, {x: value})
            session.close()

    return run

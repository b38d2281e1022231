"""The course's convnet: two convolutions with pools, a dense layer with dropout, Adam."""

import numpy as np

SIZE, BATCH, CLASSES = 12, 8, 4


def _variable(tf, *shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def _convolution(tf, layer, channels, name):
    with tf.name_scope(name):
        kernel = _variable(tf, 5, 5, layer.shape[-1].value, channels)
        layer = tf.nn.conv2d(layer, kernel, strides=[1, 1, 1, 1], padding="SAME")
        layer = tf.nn.relu(layer + tf.Variable(tf.constant(0.1, shape=[channels])))
        return tf.nn.max_pool(layer, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


def build(tf):
    tf.set_random_seed(5)
    x = tf.placeholder(tf.float32, [None, SIZE * SIZE], name="x")
    y = tf.placeholder(tf.float32, [None, CLASSES], name="y")
    keep = tf.placeholder(tf.float32, name="keep")
    layer = tf.reshape(x, [-1, SIZE, SIZE, 1])
    for name, channels in (("first", 6), ("second", 10)):
        layer = _convolution(tf, layer, channels, name)
    layer = tf.reshape(layer, [-1, 3 * 3 * 10])
    hidden = tf.nn.relu(tf.matmul(layer, _variable(tf, 90, 32)) + tf.Variable(tf.constant(0.1, shape=[32])))
    hidden = tf.nn.dropout(hidden, keep)
    logits = tf.matmul(hidden, _variable(tf, 32, CLASSES)) + tf.Variable(tf.constant(0.1, shape=[CLASSES]))
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = tf.train.AdamOptimizer(1e-3).minimize(loss)
    hits = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32))

    def feed(step):
        pixels = np.arange(BATCH * SIZE * SIZE).reshape(BATCH, -1) * (step + 3) % 17 / 17.0
        return {x: pixels.astype(np.float32), y: np.eye(CLASSES)[np.arange(BATCH) % CLASSES], keep: 0.5}

    return {"train": train, "fetches": {"loss": loss, "hits": hits}, "feed": feed, "steps": 15}

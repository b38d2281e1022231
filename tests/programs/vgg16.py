"""Transfer from VGG-16: a MetaGraph that TensorFlow wrote is imported, cut off behind its seventh layer, and gets a
head of its own, which is trained. The net is that of the paper, with fewer channels and smaller images."""

import os

import numpy as np

META_GRAPH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "graphs", "vgg16.meta")
BLOCKS = ((1, (4, 4)), (2, (6, 6)), (3, (8, 8, 8)), (4, (8, 8, 8)), (5, (8, 8, 8)))
SIZE, BATCH, CLASSES = 32, 4, 3


def write_meta_graph(tf):
    """Writes what `build` imports: done once, by TensorFlow."""
    with tf.Graph().as_default():
        tf.set_random_seed(16)
        layer = tf.placeholder(tf.float32, [None, SIZE, SIZE, 3], name="image_input")
        keep = tf.placeholder(tf.float32, [], name="keep_prob")
        for block, channels in BLOCKS:
            for i, count in enumerate(channels):
                layer = _convolution(tf, layer, "conv{}_{}".format(block, i + 1), count)
            layer = tf.nn.max_pool(layer, [1, 2, 2, 1], [1, 2, 2, 1], "SAME", name="pool{}".format(block))
        layer = tf.reshape(layer, [-1, layer.shape[-1].value], name="flat")
        for name, units in (("fc6", 16), ("fc7", 16)):
            layer = tf.nn.dropout(_dense(tf, layer, name, units), rate=1 - keep, name=name + "_dropout")
        tf.nn.softmax(_dense(tf, layer, "fc8", 10, activation=None), name="probabilities")
        tf.train.Saver().export_meta_graph(META_GRAPH)


def _convolution(tf, layer, name, channels):
    with tf.variable_scope(name):
        shape = [3, 3, layer.shape[-1].value, channels]
        kernel = tf.get_variable("filter", shape, initializer=tf.truncated_normal_initializer(stddev=0.2))
        bias = tf.get_variable("biases", [channels], initializer=tf.constant_initializer(0.05))
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(layer, kernel, [1, 1, 1, 1], "SAME"), bias))


def _dense(tf, layer, name, units, activation="relu"):
    with tf.variable_scope(name):
        shape = [layer.shape[-1].value, units]
        kernel = tf.get_variable("weights", shape, initializer=tf.truncated_normal_initializer(stddev=0.3))
        layer = tf.nn.bias_add(tf.matmul(layer, kernel), tf.get_variable("biases", [units]))
        return tf.nn.relu(layer) if activation else layer


def build(tf):
    tf.set_random_seed(7)
    tf.train.import_meta_graph(META_GRAPH)
    graph = tf.get_default_graph()
    images = graph.get_tensor_by_name("image_input:0")
    keep = graph.get_tensor_by_name("keep_prob:0")
    features = tf.stop_gradient(graph.get_tensor_by_name("fc7_dropout/mul_1:0"))
    skip = graph.get_tensor_by_name("pool3:0")  # as FCN-8 has it: these layers below are trained

    labels = tf.placeholder(tf.int64, [None], name="labels")
    hidden = tf.layers.conv2d(skip, 4, 1, activation=tf.nn.relu, name="skip")
    joined = tf.concat([features, tf.layers.flatten(hidden)], 1)
    logits = tf.layers.dense(joined, CLASSES, kernel_regularizer=tf.nn.l2_loss, name="head")
    loss = tf.losses.sparse_softmax_cross_entropy(labels, logits) + 1e-3 * tf.losses.get_regularization_loss()
    train = tf.train.AdamOptimizer(0.01).minimize(loss)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))

    def feed(step):
        count = BATCH * SIZE * SIZE * 3
        pixels = (np.arange(count) * 37 % 101 + step * 13) % 101 / 101.0
        return {
            images: pixels.reshape(BATCH, SIZE, SIZE, 3).astype(np.float32),
            labels: np.arange(BATCH) * (step + 1) % CLASSES,
            keep: 0.75,
        }

    return {"train": train, "fetches": {"loss": loss, "accuracy": accuracy}, "feed": feed, "steps": 8}

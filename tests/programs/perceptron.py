"""A perceptron 784-256-256-10 with Adam, on made-up digits."""

import numpy as np

N_INPUT, N_HIDDEN, N_CLASSES, BATCH = 784, 256, 10, 64


def _digits():
    """Images of ten patterns with noise, and one-hot labels."""
    random = np.random.RandomState(2)
    patterns = random.uniform(size=(N_CLASSES, N_INPUT)) < 0.2
    labels = random.randint(0, N_CLASSES, 512)
    flipped = random.uniform(size=(512, N_INPUT)) < 0.1
    return (patterns[labels] != flipped).astype(np.float32), np.eye(N_CLASSES, dtype=np.float32)[labels]


def build(tf):
    tf.set_random_seed(77)
    images, labels = _digits()
    X = tf.placeholder("float", [None, N_INPUT])
    Y = tf.placeholder("float", [None, N_CLASSES])

    weights = {
        "h1": tf.Variable(tf.random_normal([N_INPUT, N_HIDDEN], stddev=0.05)),
        "h2": tf.Variable(tf.random_normal([N_HIDDEN, N_HIDDEN], stddev=0.05)),
        "out": tf.Variable(tf.random_normal([N_HIDDEN, N_CLASSES], stddev=0.05)),
    }
    biases = {
        "b1": tf.Variable(tf.zeros([N_HIDDEN])),
        "b2": tf.Variable(tf.zeros([N_HIDDEN])),
        "out": tf.Variable(tf.zeros([N_CLASSES])),
    }
    layer_1 = tf.nn.relu(tf.add(tf.matmul(X, weights["h1"]), biases["b1"]))
    layer_2 = tf.nn.relu(tf.nn.bias_add(tf.matmul(layer_1, weights["h2"]), biases["b2"]))
    logits = tf.matmul(layer_2, weights["out"]) + biases["out"]

    loss_op = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=logits, labels=Y))
    train_op = tf.train.AdamOptimizer(learning_rate=0.001).minimize(loss_op)

    correct = tf.nn.in_top_k(logits, tf.argmax(Y, 1), 1)
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    def feed(step):
        start = step * BATCH % 512
        return {X: images[start : start + BATCH], Y: labels[start : start + BATCH]}

    return {"train": train_op, "fetches": {"loss": loss_op, "accuracy": accuracy}, "feed": feed, "steps": 24}

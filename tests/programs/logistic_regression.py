"""Softmax regression on points of three clouds, with accuracy and a global step."""

import numpy as np

CENTERS = np.array([[1.0, 0.5, 0.0, -1.0], [-1.0, 0.5, 1.0, 0.0], [0.0, -1.5, 0.5, 1.0]], np.float32)


def _points(count):
    random = np.random.RandomState(8)
    labels = random.randint(0, 3, count)
    points = CENTERS[labels] + random.uniform(-1.0, 1.0, size=(count, 4)).astype(np.float32)
    return points, np.eye(3, dtype=np.float32)[labels]


def build(tf):
    tf.set_random_seed(21)
    points, labels = _points(256)
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 3])

    W = tf.get_variable("W", [4, 3], initializer=tf.random_normal_initializer(stddev=0.01))
    b = tf.get_variable("b", [3], initializer=tf.zeros_initializer())
    pred = tf.nn.softmax(tf.matmul(x, W) + b)
    cost = tf.reduce_mean(-tf.reduce_sum(y * tf.log(pred), reduction_indices=1))
    global_step = tf.Variable(0, trainable=False, name="global_step")
    optimizer = tf.train.MomentumOptimizer(0.1, 0.9).minimize(cost, global_step=global_step)

    correct = tf.equal(tf.argmax(pred, 1), tf.argmax(y, 1))
    accuracy = tf.reduce_mean(tf.cast(correct, tf.float32))

    def feed(step):
        start = step * 32 % 256
        return {x: points[start : start + 32], y: labels[start : start + 32]}

    return {"train": optimizer, "fetches": {"cost": cost, "accuracy": accuracy}, "feed": feed, "steps": 40}

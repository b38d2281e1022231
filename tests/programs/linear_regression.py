"""A line through points, by three optimizers side by side."""

import numpy as np


def build(tf):
    tf.set_random_seed(3)
    random = np.random.RandomState(5)
    train_x = random.uniform(-1.0, 1.0, size=(50, 1)).astype(np.float32)
    train_y = (train_x * 2.5 - 0.75 + 0.1 * random.uniform(-1.0, 1.0, size=(50, 1))).astype(np.float32)

    X = tf.placeholder(tf.float32, [None, 1], name="X")
    Y = tf.placeholder(tf.float32, [None, 1], name="Y")

    steps, fetches = [], {}
    for name, optimizer in (
        ("descent", tf.train.GradientDescentOptimizer(0.1)),
        ("momentum", tf.train.MomentumOptimizer(0.02, 0.9)),
        ("adagrad", tf.train.AdagradOptimizer(0.5)),
    ):
        with tf.name_scope(name):
            W = tf.Variable(tf.random_normal([1, 1]), name="weight")
            b = tf.Variable(tf.zeros([1]), name="bias")
            pred = tf.add(tf.matmul(X, W), b)
            cost = tf.reduce_sum(tf.pow(pred - Y, 2)) / (2 * 50)
            steps.append(optimizer.minimize(cost))
            fetches["cost_of_" + name] = cost

    return {"train": tf.group(*steps), "fetches": fetches, "feed": lambda step: {X: train_x, Y: train_y}, "steps": 40}

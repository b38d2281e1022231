"""tf.contrib.nn, sparsemax, mixed_precision and deprecated."""

import importlib

import numpy as np

_SCORES = [[0.1, 0.7, -0.3], [2.0, 0.5, 1.9], [0.0, 0.0, 0.0], [-1.0, 5.0, 2.0]]


def sparsemax_and_its_loss(tf):
    logits = tf.constant(_SCORES)
    labels = tf.constant([[0.0, 1, 0], [0, 0, 1], [0.5, 0.5, 0], [1, 0, 0]])
    probabilities = tf.contrib.sparsemax.sparsemax(logits)
    loss = tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, labels)
    return [probabilities, loss, tf.gradients(loss, logits)[0]]


def sparsemax_of_invalid_scores(tf):
    inf, nan = float("inf"), float("nan")
    logits = tf.placeholder_with_default([[inf, 0.0, 1], [-inf, 0, 1], [nan, 0, 1], [-inf, -inf, -inf]], [None, None])
    probabilities = tf.contrib.sparsemax.sparsemax(logits, name="s")
    return [probabilities, tf.contrib.sparsemax.sparsemax_loss(logits, probabilities, tf.ones_like(logits) / 3)]


def alpha_dropout(tf):
    tf.set_random_seed(3)
    x = tf.constant(np.linspace(-2, 3, 24).reshape(4, 6), tf.float32)
    keep = tf.placeholder_with_default(0.7, [])
    return [
        tf.contrib.nn.alpha_dropout(x, 0.8),
        tf.contrib.nn.alpha_dropout(x, keep, noise_shape=[4, 1], seed=5, name="drop"),
        tf.contrib.nn.alpha_dropout(x, 1.0),
    ]


def losses_with_scores_first(tf):
    logits = tf.constant(_SCORES)
    labels = tf.nn.softmax(logits * 2)
    nn = tf.contrib.nn
    return [
        nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels),
        nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [0, 1, 2, 1], name="sparse"),
        nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels, name="sigmoid"),
    ]


def sampled_sparse_softmax_loss(tf):
    tf.set_random_seed(2)
    weights = tf.constant(np.linspace(-1, 1, 40).reshape(10, 4), tf.float32)
    inputs = tf.constant(_SCORES)[:, :2]
    inputs = tf.concat([inputs, inputs], 1)
    labels = tf.constant([[1], [3], [0], [9]], tf.int64)
    loss = tf.contrib.nn.sampled_sparse_softmax_loss(weights, tf.zeros([10]), labels, inputs, 4, 10)
    return [loss, tf.gradients(loss, inputs)[0]]


def forward_gradients(tf):
    module = "tensorflow" if "tensorflow" in tf.__name__ else tf.__name__
    fwd_gradients = importlib.import_module(module + ".contrib.nn.python.ops.fwd_gradients").fwd_gradients

    x = tf.constant([1.0, 2.0, 3.0])
    y = tf.constant([0.5, 0.25, 2.0])
    zs = [tf.sin(x) * y, tf.reduce_sum(x * x)]
    return fwd_gradients(zs, [x, y], grad_xs=[tf.ones(3), tf.zeros(3)]) + fwd_gradients(
        [x * y], [x], assert_unused=True
    )


def loss_scale_optimizer(tf):
    x = tf.get_variable("x", initializer=[1.0, -2.0])
    manager = tf.contrib.mixed_precision.ExponentialUpdateLossScaleManager(8.0, 2, 1, 4, 0.5)
    optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.GradientDescentOptimizer(0.1), manager)
    factor = tf.placeholder_with_default(1.0, [])
    step = optimizer.minimize(tf.reduce_sum(x * x * tf.sqrt(factor)))
    bad = optimizer.minimize(tf.reduce_sum(x) / tf.constant(0.0))
    steps = []
    for op in (step, step, bad, step):
        steps += [[op], [x, manager.get_loss_scale()]]
    return tuple(steps)


def fixed_loss_scale(tf):
    x = tf.get_variable("x", initializer=tf.constant([1.0, -2.0], tf.float16))
    manager = tf.contrib.mixed_precision.FixedLossScaleManager(128)
    optimizer = tf.contrib.mixed_precision.LossScaleOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), manager)
    return ([optimizer.minimize(lambda: tf.reduce_sum(x * x * x))], [x])


def deprecated_summaries(tf):
    old = tf.contrib.deprecated
    with tf.name_scope("scope"):
        scalar = old.scalar_summary(["a", "b/c"], [1.0, 2.5])
        old.histogram_summary("values", tf.constant([1.0, 2.0, 2.0]))
        old.image_summary("image", tf.reshape(tf.linspace(0.0, 1.0, 12), [1, 2, 2, 3]), max_images=1)
        old.audio_summary("sound", tf.constant([[0.0, 0.5, -0.5]]), 8000.0, collections=["sounds"])
    merged = old.merge_summary([scalar], collections=["merged"], name="one")
    return [merged, old.merge_all_summaries(), *tf.get_collection("sounds")]

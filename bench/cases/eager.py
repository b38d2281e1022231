"""What operations cost when they run as they are called, and a step of training with a tape."""

import numpy as np

from bench.cases.registry import TENSORFLOWS, case


def _enabled(tf, threads):
    tf.enable_eager_execution(
        config=tf.ConfigProto(intra_op_parallelism_threads=threads, inter_op_parallelism_threads=threads)
    )
    return tf


@case("eager x + y of 2 x 2 floats", TENSORFLOWS, threads=(1,), own_process=True)
def addition(tf, threads):
    x = _enabled(tf, threads).constant([[1.0, 2.0], [3.0, 4.0]])
    return lambda: x + x


@case("eager product of 2 x 2 floats", TENSORFLOWS, threads=(1,), own_process=True)
def product(tf, threads):
    x = _enabled(tf, threads).constant([[1.0, 2.0], [3.0, 4.0]])
    return lambda: tf.matmul(x, x)


@case("eager step of a perceptron 784-128-10 with Adam, batch 100", TENSORFLOWS, own_process=True)
def perceptron(tf, threads):
    _enabled(tf, threads)
    random = np.random.RandomState(0)
    variables = [
        tf.Variable(array.astype(np.float32))
        for before, after in ((784, 128), (128, 10))
        for array in (random.normal(0, 0.05, (before, after)), np.zeros(after))
    ]
    images = tf.constant(random.uniform(size=(100, 784)).astype(np.float32))
    labels = tf.constant(random.randint(0, 10, size=100))
    optimizer = tf.train.AdamOptimizer(0.001)

    def run():
        with tf.GradientTape() as tape:
            hidden = tf.nn.relu(tf.matmul(images, variables[0]) + variables[1])
            logits = tf.matmul(hidden, variables[2]) + variables[3]
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))  # noqa: B905

    return run

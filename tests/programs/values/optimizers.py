"""Variables and slots after several steps of each optimizer, with dense and sparse gradients."""

import numpy as np

from programs.values import case

STEPS = 4


def optimizers(tf):
    return {
        "gradient_descent": lambda: tf.train.GradientDescentOptimizer(0.1),
        "momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
        "nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
        "adagrad": lambda: tf.train.AdagradOptimizer(0.1),
        "adagrad_initial": lambda: tf.train.AdagradOptimizer(0.1, initial_accumulator_value=1.5),
        "adam": lambda: tf.train.AdamOptimizer(0.1),
        "adam_betas": lambda: tf.train.AdamOptimizer(0.1, beta1=0.5, beta2=0.75, epsilon=0.01),
        "ada_max": lambda: tf.contrib.opt.AdaMaxOptimizer(0.1, epsilon=0.01),
        "power_sign": lambda: tf.contrib.opt.PowerSignOptimizer(0.1, base=2.0),
        "add_sign": lambda: tf.contrib.opt.AddSignOptimizer(0.1, alpha=1.5, beta=0.75),
    }


def cases(tf):
    found = {}
    for name, make in optimizers(tf).items():
        for dtype in ("float32", "float64", "float16"):
            found["{}_dense_{}".format(name, dtype)] = case(steps(tf, make, sparse=False), (dtype, dense_gradients()))
        for index in ("int32", "int64"):
            found["{}_sparse_{}".format(name, index)] = case(
                steps(tf, make, sparse=True), ("float32", sparse_gradients()), (index, sparse_indices())
            )
        found[name + "_sparse_float64"] = case(
            steps(tf, make, sparse=True), ("float64", sparse_gradients()), ("int32", sparse_indices())
        )
    return found


def initial_values():
    return np.array([[1, -2, 3], [0.5, 0, -0.25], [4, 8, -1], [0.125, 1, 1]])


def dense_gradients():
    return np.random.RandomState(0).randint(-8, 9, (STEPS, 4, 3)) / 4.0


def sparse_gradients():
    return np.random.RandomState(1).randint(-8, 9, (STEPS, 4, 3)) / 4.0


def sparse_indices():
    """Repeated rows, and one that is never there."""
    return np.array([[2, 0, 2, 3], [0, 0, 0, 0], [3, 2, 0, 3], [2, 2, 3, 3]])


def steps(tf, make, sparse):
    """All values of the variable and its slots after some steps, one after the other."""

    def build(grads, *indices):
        dtype = grads.dtype
        w = tf.Variable(tf.constant(initial_values(), dtype), name="w")
        optimizer = make()
        last = []
        for i in range(STEPS):
            grad = grads[i]
            if sparse:
                grad = tf.IndexedSlices(grad, indices[0][i], tf.constant([4, 3]))
            with tf.control_dependencies(last):
                last = [optimizer.apply_gradients([(tf.identity(grad) if not sparse else grad, w)])]
        slots = [optimizer.get_slot(w, name) for name in optimizer.get_slot_names()]
        with tf.control_dependencies(last):
            return tf.stack([v.read_value() + 0 for v in [w] + slots])

    return build

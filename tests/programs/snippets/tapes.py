"""Tapes that record the nodes of a graph: in what order they are differentiated, and by which inputs."""

import numpy as np


def _numbers(tf, *shape, **options):
    values = np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)
    return tf.constant(values, name=options.get("name", "numbers"))


def _chains_in_turn(tf, count):
    x = _numbers(tf, 2)
    with tf.GradientTape() as tape:
        tape.watch(x)
        ys = [tf.tanh(x * 0.1, name="y%d" % i) for i in range(count)]
    return [tape.gradient(ys, x)]


def three_targets(tf):
    return _chains_in_turn(tf, 3)


def twelve_targets(tf):
    return _chains_in_turn(tf, 12)


def many_targets(tf):
    return _chains_in_turn(tf, 60)


def targets_of_different_depth(tf):
    x = _numbers(tf, 2, 3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        whole = tf.reduce_sum(x * x)
        rows = tf.reduce_mean(tf.tanh(x) * whole, axis=1)
        ys = [tf.sigmoid(x), rows, whole, tf.tanh(rows) - x[:, 0]]
    return [tape.gradient(ys, x, [tf.ones_like(y) * (i + 1.0) for i, y in enumerate(ys)])]


def beside_constants(tf):
    """Each of these leaves out the gradient by what is not watched."""
    x, row, whole = _numbers(tf, 2, 3), _numbers(tf, 3, name="row"), _numbers(tf, 2, 3, name="whole")
    found = []
    for f in (tf.add, tf.subtract, tf.multiply, tf.pow, tf.maximum, tf.minimum, tf.squared_difference, tf.divide):
        for other in (2.0, row, whole):
            for swapped in (False, True):
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = f(other, x) if swapped else f(x, other)
                found.append(tape.gradient(y, x))
    return found


def products(tf):
    x, other = _numbers(tf, 3, 3), _numbers(tf, 3, 3, name="other")
    found = []
    for options in ({}, {"transpose_a": True}, {"transpose_b": True}, {"transpose_a": True, "transpose_b": True}):
        for a, b in ((x, other), (other, x), (x, x)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.matmul(a, b, **options)
            found.append(tape.gradient(y, x))
    return found


def products_of_complex_numbers(tf):
    x, other = (tf.complex(_numbers(tf, 2, 2), _numbers(tf, 2, 2)) for _ in range(2))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.matmul(other, x) * other + x * (2.0 + 1j)
    return [tape.gradient(y, x)]

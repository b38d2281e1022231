"""Elements in order, polynomials, parts at random, variables that have no value."""

import numpy as np


def _values(tf):
    return tf.constant([[3.0, 1.0, 2.0], [0.5, 7.0, -1.0]])


def sorts(tf):
    x = _values(tf)
    unknown = tf.placeholder_with_default(x, None)
    return [
        tf.sort(x), tf.sort(x, direction="DESCENDING", name="named"), tf.sort(x, axis=0),
        tf.argsort(x, 0, "DESCENDING"),
        tf.argsort(x, stable=True), tf.sort(unknown), tf.sort(unknown, axis=0), tf.sort(tf.constant([3, 1, 2])),
    ]  # fmt: skip


def polynomials(tf):
    x = tf.constant([1.0, 2.0])
    return [tf.math.polyval([2.0, x, 1.0], x), tf.math.polyval([], x, name="p")]


def normalized(tf):
    x = _values(tf)
    return [*tf.linalg.normalize(x), *tf.linalg.normalize(x, 1, axis=1, name="n"), tf.linalg.global_norm([x, x])]


def softmaxes(tf):
    x = _values(tf)
    return [tf.math.softmax(x), tf.math.log_softmax(x)]


def crops(tf):
    tf.set_random_seed(5)
    x = tf.constant(np.arange(60).reshape(3, 4, 5))
    return [tf.random_crop(x, [2, 2, 5]), tf.random_crop(x, [1, 4, 1], seed=3, name="named")]


def without_values(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable([1, 2], name="w", use_resource=True)
    found = [tf.report_uninitialized_variables(), tf.report_uninitialized_variables([v], name="named")]
    return found + [tf.assert_variables_initialized(), tf.assert_variables_initialized([w])]


def without_variables(tf):
    return [tf.report_uninitialized_variables()]

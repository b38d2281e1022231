"""The operators of tensors and variables."""


def of_floats(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
    y = tf.constant([5.0, -6.0], name="y")
    return [
        x + y, x - y, x * y, x / y, x // y, x % y, x ** y, -x, abs(y), x < y, x <= y, x > y, x >= y, x @ x,
    ]  # fmt: skip


def of_floats_and_numbers(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
    return [
        x + 1, 1 + x, x - 1, 1 - x, x * 2, 2 * x, x / 2, 2 / x, x // 2, 2 // x, x % 2, 2 % x, x ** 2, 2 ** x,
        x < 2, x <= 2, x > 2, x >= 2, x > 2, x @ [[1.0], [2.0]], [[1.0, 2.0]] @ x,
    ]  # fmt: skip


def of_integers(tf):
    x = tf.constant([[7, -7], [3, 4]], name="x")
    y = tf.constant([2, 3], name="y")
    return [x + y, x - y, x * y, x / y, x // y, x % y, y**y, -x, abs(x), x < y, x @ x, x / 2, 2 // y, 2 / y]


def of_small_integers(tf):
    x = tf.constant([7, -7], tf.int16)
    y = tf.constant([2, 3], tf.uint8)
    return [x / 2, y / 2, x + 1, y * 2]


def of_integers_that_do_not_fit(tf):
    x = tf.constant([7, -7])
    return [
        tf.bitwise.bitwise_and(x, 0xFFFFFFF0), tf.bitwise.bitwise_xor(x, 2**31 + 1), x + 2**31, x * -(2**40),
        tf.equal(x, 2**32 + 7), tf.constant(2**40), tf.constant([[300, -1]], tf.uint8), tf.constant(128, tf.int8),
        tf.constant(-1, tf.uint64), tf.constant([1, 2**33 + 5], tf.int32), tf.constant(2**64 - 1, tf.uint64),
    ]  # fmt: skip


def of_variables(tf):
    x = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="x")
    return [x + 1, 1 + x, x * x, x / 2, x // 2, x % 2, x**2, -x, abs(x), x < 2, x >= 2, x @ x]


def of_arrays(tf):
    import numpy as np

    x = tf.constant([1.0, 2.0], name="x")
    a = np.array([3.0, 4.0], np.float32)
    return [x + a, a + x, a * x, x / a, a / x, a - x, np.float32(2) * x]


def of_names(tf):
    x = tf.constant([1.0, 2.0], name="x")
    with tf.name_scope("scope"):
        y = x + 1
        with tf.name_scope("inner"):
            z = y * 2 + x
    return [y, z, z - y]


def identity_of_tensors(tf):
    x = tf.constant(1.0)
    y = tf.constant(1.0)
    assert (x == x) is True and (x == y) is False and (x != y) is True and (x != x) is False
    assert len({x, y, x}) == 2
    return []


def gradients(tf):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]], name="x")
    y = tf.Variable([[1.0, 0.5], [3.0, 2.0]], name="y")
    z = (x @ y) / (x + y) - x**y * 2.0 + abs(x - y)
    return tf.gradients(z, [x, y])

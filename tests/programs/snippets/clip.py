"""Clipping of values and gradients."""


def _x(tf):
    return tf.constant([[-3.0, 0.5], [2.0, 7.0]], name="x")


def by_value(tf):
    x = _x(tf)
    y = tf.clip_by_value(x, -1.0, 2.0)
    z = tf.clip_by_value(x, tf.constant([-1.0, 0.0]), x, name="named")
    return [y, z, tf.clip_by_value([1, 5], 2, 3)] + tf.gradients(y, x)


def by_norm(tf):
    x = _x(tf)
    y = tf.clip_by_norm(x, 2.0)
    z = tf.clip_by_norm(x, 2.0, axes=[1], name="named")
    return [y, z, tf.clip_by_norm(tf.zeros([2]), 1)] + tf.gradients(y, x) + tf.gradients(z, x)


def by_average_norm(tf):
    return [tf.clip_by_average_norm(_x(tf), 0.5)]


def by_global_norm(tf):
    x = _x(tf)
    y = tf.constant([1.0, 2.0])
    clipped, norm = tf.clip_by_global_norm([x, None, y], 3.0)
    again, _ = tf.clip_by_global_norm([x, y], 3.0, use_norm=norm, name="again")
    assert clipped[1] is None
    return [clipped[0], clipped[2], norm, tf.global_norm([x, y])] + again


def of_a_norm_that_is_infinite(tf):
    clipped, norm = tf.clip_by_global_norm([tf.constant([float("inf"), 1.0])], 3.0)
    return clipped + [norm]


def gradients_of_a_model(tf):
    w = tf.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    b = tf.Variable([0.5, -0.5], name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul([[1.0, -1.0]], w) + b))
    grads, norm = tf.clip_by_global_norm(tf.gradients(loss, [w, b]), 0.1)
    return grads + [norm]

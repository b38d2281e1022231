"""Elementwise losses of tf.nn, with their gradients."""


def _pair(tf):
    x = tf.constant([[-3.0, -0.5, 0.0], [0.25, 2.0, 7.0]], name="x")
    z = tf.constant([[0.0, 1.0, 0.5], [1.0, 0.0, 1.0]], name="z")
    return x, z


def sigmoid_cross_entropy(tf):
    x, z = _pair(tf)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x)
    return [loss, tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x, name="named")] + tf.gradients(
        loss, [x, z]
    )


def weighted_cross_entropy(tf):
    x, z = _pair(tf)
    loss = tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=2.5)
    other = tf.nn.weighted_cross_entropy_with_logits(targets=z, logits=x, pos_weight=tf.constant(0.5), name="named")
    return [loss, other] + tf.gradients(loss, [x, z])


def log_poisson(tf):
    x, z = _pair(tf)
    loss = tf.nn.log_poisson_loss(z, x)
    full = tf.nn.log_poisson_loss(z * 4.0 + 0.1, x, compute_full_loss=True, name="full")
    return [loss, full] + tf.gradients(loss, [x])


def l2_normalize(tf):
    x, _ = _pair(tf)
    return [
        tf.nn.l2_normalize(x),
        tf.nn.l2_normalize(x, 1, name="named"),
        tf.math.l2_normalize(x, dim=[0, 1], epsilon=100.0),
    ]


def gradient_of_l2_normalize(tf):
    x, z = _pair(tf)
    return tf.gradients(tf.nn.l2_normalize(x, 1) * z, x)

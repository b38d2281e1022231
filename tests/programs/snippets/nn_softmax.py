"""Softmax and the cross entropies, with their gradients."""

import numpy as np


def _x(tf):
    return tf.constant([[-3.0, -0.5, 0.0], [0.25, 2.0, 7.0]], name="x")


def _cube(tf):
    return tf.reshape(tf.constant([float(i % 7) - 2.0 * (i % 3) for i in range(24)], name="cube"), [2, 3, 4])


def softmax(tf):
    x = _x(tf)
    y = tf.nn.softmax(x)
    return [y, tf.nn.softmax(x, name="named"), tf.nn.softmax([1.0, -2.0]), tf.nn.softmax(x, axis=1)] + tf.gradients(
        y * y, x
    )


def log_softmax(tf):
    x = _x(tf)
    y = tf.nn.log_softmax(x)
    return [y, tf.nn.log_softmax(x, dim=-1, name="named")] + tf.gradients(y * y, x)


def along_other_axes(tf):
    x = _cube(tf)
    return [
        tf.nn.softmax(x, axis=0),
        tf.nn.softmax(x, axis=-2, name="a"),
        tf.nn.log_softmax(x, 1),
        tf.nn.softmax(x, 2),
    ]


def gradients_along_another_axis(tf):
    x = _cube(tf)
    y = tf.nn.softmax(x, axis=1)
    return [y] + tf.gradients(y * y, x)


def along_a_tensor_axis(tf):
    x = _cube(tf)
    return [tf.nn.softmax(x, axis=tf.constant(-2)), tf.nn.log_softmax(x, axis=tf.constant(1), name="named")]


def of_unknown_batch(tf):
    x = tf.placeholder_with_default([[1.0, 2.0], [0.0, -1.0]], [None, 2])
    labels = tf.placeholder_with_default([[1.0, 0.0], [0.5, 0.5]], [None, 2])
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
    return [tf.nn.softmax(x), loss] + tf.gradients(loss, [x, labels])


def cross_entropy(tf):
    x = _x(tf)
    labels = tf.constant([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], name="labels")
    loss = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x)
    return [loss, tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x, name="named")] + tf.gradients(
        loss, x
    )


def cross_entropy_v2(tf):
    x = _x(tf)
    labels = tf.constant([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], name="labels")
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x, name="named")
    return [loss] + tf.gradients(tf.reduce_mean(loss), [x, labels])


def cross_entropy_along_axis(tf):
    x = _cube(tf)
    labels = tf.nn.softmax(_cube(tf), name="labels")
    first = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
    other = tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x, dim=1)
    return [first, other] + tf.gradients([first, other], x)


def second_gradient_of_cross_entropy(tf):
    x = _x(tf)
    labels = tf.constant([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], name="labels")
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
    first = tf.gradients(loss, x)[0]
    return tf.gradients(first * first, x)


def sparse_cross_entropy(tf):
    x = _x(tf)
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.constant([2, 0]), logits=x)
    named = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.constant([2, 0], tf.int64), logits=x, name="named"
    )
    return [loss, named] + tf.gradients(loss, x)


def sparse_cross_entropy_of_many(tf):
    x = _cube(tf)
    labels = tf.constant([[0, 3, 1], [2, 2, 0]])
    loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=x, name="named")
    return [loss] + tf.gradients(loss, x)


def of_halves(tf):
    x = tf.cast(_x(tf), tf.float16)
    labels = tf.constant([[0.0, 0.25, 0.75], [1.0, 0.0, 0.0]], tf.float16)
    dense = tf.nn.softmax_cross_entropy_with_logits_v2(labels=labels, logits=x)
    sparse = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[1, 2], logits=x)
    return [tf.cast(dense, tf.float32), tf.cast(sparse, tf.float32)]


def of_doubles(tf):
    x = tf.cast(_x(tf), tf.float64)
    return [tf.nn.softmax(x), tf.nn.log_softmax(x)]


def sparse_softmax_cross_entropy_of_sequences(tf):
    """Logits of rank 3: the shapes are compared when the graph runs, unless all is known before."""
    x = np.linspace(-2, 2, 24, dtype=np.float32).reshape(2, 3, 4)
    y = np.array([[0, 1, 2], [3, 2, 1]])
    losses = []
    for logits_shape, labels_shape in (([None, None, 4], [None, None]), ([2, 3, 4], [2, 3]), (None, [2, 3])):
        logits = tf.placeholder_with_default(tf.constant(x), logits_shape)
        labels = tf.placeholder_with_default(tf.constant(y), labels_shape)
        losses.append(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name="loss"))
        losses += tf.gradients(losses[-1], logits)
    return losses

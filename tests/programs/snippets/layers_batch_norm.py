"""tf.layers.batch_normalization without fused: graphs, averages, renorm, virtual batches."""

import numpy as np


def _input(tf, *shape):
    tf.set_random_seed(7)
    values = np.sin(np.arange(np.prod(shape)) * 1.7).reshape(shape) + np.arange(shape[-1])
    return tf.constant(values.astype(np.float32), name="x")


def _listed(tf, *names):
    graph = tf.get_default_graph()
    return [tf.constant([item.name for item in graph.get_collection(name)], tf.string) for name in names]


def _runs(tf, results, *inputs):
    """The results and gradients, the updates, the averages after these, and the results then."""
    gradients = tf.gradients([tf.reduce_sum(tf.sin(y)) for y in results], list(inputs) + tf.trainable_variables())
    updates = tf.get_collection("update_ops")
    return results + [g for g in gradients if g is not None], _values(tf, updates), tf.global_variables(), results


def _values(tf, updates):
    """What the updates return."""
    return [tf.identity(update.outputs[0]) if update.outputs else update for update in updates]


def training(tf):
    x = _input(tf, 4, 3)
    y = tf.layers.batch_normalization(x, training=True)
    return _runs(tf, [y], x) + (_listed(tf, "variables", "trainable_variables", "update_ops"),)


def inference(tf):
    x = _input(tf, 4, 3)
    y = tf.layers.batch_normalization(
        x,
        moving_mean_initializer=tf.constant_initializer(0.5),
        moving_variance_initializer=tf.constant_initializer(3),
    )
    return _runs(tf, [y], x)


def by_condition(tf):
    x = _input(tf, 4, 3)
    layer = tf.layers.BatchNormalization(momentum=0.9)
    results = [layer(x, training=tf.placeholder_with_default(value, [])) for value in (True, False)]
    return _runs(tf, results, x)


def with_options(tf):
    x = _input(tf, 4, 2, 3)
    regularizer = lambda v: tf.reduce_sum(v * v)  # noqa: E731
    results = [
        tf.layers.batch_normalization(x, center=False, training=True),
        tf.layers.batch_normalization(x, scale=False, training=True, name="named"),
        tf.layers.batch_normalization(x, epsilon=0.1, momentum=0.5, training=True, gamma_regularizer=regularizer),
        tf.layers.batch_normalization(x, axis=1, training=True, beta_initializer=tf.ones_initializer()),
        tf.layers.batch_normalization(x, axis=[1, 2], training=True),
        tf.layers.batch_normalization(x, axis=-2, training=False),
        tf.layers.batch_normalization(x, training=True, trainable=False),
        tf.layers.batch_normalization(x, name="named", reuse=True, scale=False),
    ]
    return _runs(tf, results, x) + (_listed(tf, "variables", "update_ops", "regularization_losses"),)


def not_fused_of_images(tf):
    x = _input(tf, 2, 3, 2, 3)
    results = [
        tf.layers.batch_normalization(x, training=True, fused=False),
        tf.layers.batch_normalization(x, axis=1, training=True, fused=False),
        tf.layers.batch_normalization(x, axis=[1, 3], training=True),
    ]
    return _runs(tf, results, x)


def of_halves(tf):
    x = tf.cast(_input(tf, 4, 3), tf.float16)
    y = tf.layers.batch_normalization(x, training=True)
    return [y] + tf.global_variables()


def renorm(tf):
    x = _input(tf, 4, 3)
    layer = tf.layers.BatchNormalization(renorm=True, renorm_momentum=0.5, momentum=0.8)
    return _runs(tf, [layer(x, training=True)], x)


def renorm_clipped(tf):
    x = _input(tf, 4, 3)
    clipping = {"rmax": 1.5, "rmin": 0.5, "dmax": 0.2}
    layer = tf.layers.BatchNormalization(renorm=True, renorm_clipping=clipping)
    return _runs(tf, [layer(x, training=True)], x)


def renorm_by_condition(tf):
    x = _input(tf, 4, 3)
    layer = tf.layers.BatchNormalization(renorm=True)
    return _runs(tf, [layer(x, training=tf.placeholder_with_default(True, []))], x)


def renorm_in_inference(tf):
    x = _input(tf, 4, 3)
    return _runs(tf, [tf.layers.batch_normalization(x, renorm=True)], x)


def virtual_batches(tf):
    x = _input(tf, 4, 3)
    layer = tf.layers.BatchNormalization(virtual_batch_size=2)
    return _runs(tf, [layer(x, training=True), layer(x, training=False)], x)


def virtual_batches_of_axis_one(tf):
    x = _input(tf, 4, 3, 2)
    layer = tf.layers.BatchNormalization(virtual_batch_size=2, axis=1)
    return _runs(tf, [layer(x, training=tf.placeholder_with_default(True, []))], x)


def adjustment(tf):
    x = _input(tf, 4, 3)

    def adjusted(shape):
        return tf.fill(shape, 2.0), tf.fill(shape, 0.5)

    layer = tf.layers.BatchNormalization(adjustment=adjusted)
    results = [layer(x, training=True), layer(x, training=False)]
    results.append(layer(x, training=tf.placeholder_with_default(True, [])))
    return _runs(tf, results, x)


def of_unknown_sizes(tf):
    x = tf.placeholder_with_default(_input(tf, 4, 3), [None, 3])
    return _runs(tf, [tf.layers.batch_normalization(x, training=True)])


def of_scopes(tf):
    x = _input(tf, 4, 3)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        y = tf.layers.batch_normalization(x, training=True)
    with tf.variable_scope("resources", use_resource=True):
        z = tf.layers.batch_normalization(x, training=True)
    return [y, z], _listed(tf, "variables", "update_ops")

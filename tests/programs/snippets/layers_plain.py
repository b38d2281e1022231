"""tf.layers.dense, dropout, flatten: names, graphs, values, gradients."""

import numpy as np


def _input(tf, *shape):
    tf.set_random_seed(7)
    return tf.constant(np.linspace(-1, 1, int(np.prod(shape))).reshape(shape).astype(np.float32), name="x")


def _listed(tf, *names):
    graph = tf.get_default_graph()
    return [tf.constant([item.name for item in graph.get_collection(name)], tf.string) for name in names]


def dense(tf):
    x = _input(tf, 4, 3)
    y = tf.layers.dense(x, 5, activation=tf.nn.relu)
    y = tf.layers.dense(y, 2, use_bias=False, name="named")
    y = tf.layers.dense(y, 2, tf.nn.softmax, kernel_initializer=tf.ones_initializer(), trainable=False)
    loss = tf.reduce_sum(tf.square(y))
    return [y] + tf.gradients(loss, [x] + tf.trainable_variables()) + _listed(tf, "variables", "trainable_variables")


def dense_of_more_dimensions(tf):
    x = _input(tf, 2, 3, 4)
    y = tf.layers.dense(x, 2)
    z = tf.layers.dense(tf.placeholder_with_default(x, [None, None, 4]), 3)
    return [y, z] + tf.gradients([y, z], [x] + tf.trainable_variables())


def dense_with_options(tf):
    x = _input(tf, 4, 3)
    regularizer = lambda v: 0.5 * tf.reduce_sum(v * v)  # noqa: E731
    layer = tf.layers.Dense(
        2, activation="tanh", kernel_initializer="normal", bias_initializer="ones", kernel_regularizer=regularizer,
        bias_regularizer="l2", activity_regularizer=tf.reduce_sum, kernel_constraint="non_neg",
        bias_constraint=lambda v: v / 2.0,
    )  # fmt: skip
    y = layer(x)
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y) + tf.losses.get_regularization_loss())
    with tf.control_dependencies([train]):
        after = [layer.kernel.read_value(), layer.bias.read_value()]
    return [y] + layer.losses, after, layer.losses + _listed(tf, "regularization_losses")


def dense_reused(tf):
    x = _input(tf, 4, 3)
    first = tf.layers.dense(x, 2, name="shared")
    second = tf.layers.dense(x, 2, name="shared", reuse=True)
    with tf.variable_scope("scope", reuse=tf.AUTO_REUSE):
        third = tf.layers.dense(x, 2, name="shared")
        fourth = tf.layers.dense(x, 2, name="shared")
    layer = tf.layers.Dense(3, _scope="own")
    return [first, second, third, fourth, layer(x), layer(x)] + _listed(tf, "variables")


def dense_of_scopes(tf):
    x = _input(tf, 4, 3)
    with tf.variable_scope("a", initializer=tf.constant_initializer(0.5), regularizer=tf.reduce_sum):
        y = tf.layers.dense(x, 2)
        with tf.variable_scope("b", use_resource=True, dtype=tf.float64):
            z = tf.layers.dense(x, 2)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        w = tf.layers.dense(x, 4)
    return [y, z, w] + tf.gradients([y, z], [x]) + _listed(tf, "variables", "regularization_losses")


def dense_of_types(tf):
    x = _input(tf, 4, 3)
    return [
        tf.layers.dense(tf.cast(x, tf.float64), 2),
        tf.layers.Dense(2, dtype=tf.float16)(tf.cast(x, tf.float16)),
        tf.layers.Dense(2, dtype="float64")(x),
    ]


def dense_of_sparse(tf):
    tf.set_random_seed(7)
    x = tf.SparseTensor([[0, 0], [2, 3]], [1.0, 2.0], [3, 4])
    y = tf.layers.dense(x, 2)
    return [y] + tf.gradients(y, tf.trainable_variables())


def _activated(tf, names):
    x = _input(tf, 2, 3)
    return [tf.layers.Dense(3, activation=name)(x) for name in names]


def activations_by_name(tf):
    names = "linear relu tanh sigmoid softmax elu selu softplus softsign exponential hard_sigmoid"
    return _activated(tf, names.split() + [None])


def softmax_of_three_dimensions(tf):
    return [tf.layers.Dense(3, activation="softmax")(_input(tf, 2, 2, 3))]


def dropout(tf):
    x = _input(tf, 4, 3)
    results = [
        tf.layers.dropout(x, training=True),
        tf.layers.dropout(x, 0.2, seed=3, training=True),
        tf.layers.dropout(x, 0.2, training=False),
        tf.layers.dropout(x),
        tf.layers.dropout(x, 0.0, training=True, name="none"),
        tf.layers.dropout(x, 0.4, noise_shape=[4, 1], training=1),
        tf.layers.dropout(x, 0.4, noise_shape=[None, 1], training=True),
    ]
    return results + tf.gradients(results[:2], x)


def dropout_by_condition(tf):
    x = _input(tf, 4, 3)
    training = tf.placeholder_with_default(True, [])
    other = tf.placeholder_with_default(False, [])
    layer = tf.layers.Dropout(0.3, seed=1)
    results = [layer(x, training=training), layer(x, training=other), layer(x, tf.constant(True))]
    return results + tf.gradients(results, x)


def flatten(tf):
    x = _input(tf, 2, 3, 4)
    return [
        tf.layers.flatten(x),
        tf.layers.flatten(tf.placeholder_with_default(x, [None, 3, 4]), name="named"),
        tf.layers.flatten(tf.placeholder_with_default(x, [2, None, 4])),
        tf.layers.flatten(x, data_format="channels_first"),
        tf.layers.Flatten()(tf.constant([1.0, 2.0])),
    ] + tf.gradients(tf.layers.flatten(x)[:, 1], x)


def configs(tf):
    layers = [
        tf.layers.Dense(3, activation=tf.nn.relu, kernel_regularizer="l1", name="a"),
        tf.layers.Dropout(0.3, noise_shape=[None, 1], name="b"),
        tf.layers.Flatten(name="c"),
        tf.layers.BatchNormalization(renorm=True, renorm_clipping={"rmax": 3.0}, name="d", fused=False),
    ]
    return [tf.constant(repr(sorted(layer.get_config().items()))) for layer in layers]

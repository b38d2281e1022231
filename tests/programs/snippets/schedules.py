"""Learning rates that depend on the step, and the global step."""


def exponential(tf):
    step = tf.Variable(7, trainable=False, name="step")
    return [
        tf.train.exponential_decay(0.5, step, 2, 0.9),
        tf.train.exponential_decay(0.5, step, 2, 0.9, staircase=True),
        tf.train.exponential_decay(tf.constant(0.5, tf.float64), 3, 10, 0.96, name="named"),
    ]


def natural_and_inverse(tf):
    step = tf.Variable(5, trainable=False, dtype=tf.int64)
    return [
        tf.train.natural_exp_decay(0.5, step, 2, 0.9),
        tf.train.natural_exp_decay(0.5, step, 2, 0.9, True, "n"),
        tf.train.inverse_time_decay(0.5, step, 2, 0.9),
        tf.train.inverse_time_decay(0.5, step, 2, 0.9, staircase=True, name="i"),
    ]


def polynomial_and_cosine(tf):
    step = tf.Variable(5, trainable=False)
    return [
        tf.train.polynomial_decay(0.5, step, 10),
        tf.train.polynomial_decay(0.5, step, 3, 0.01, power=0.5),
        tf.train.cosine_decay(0.5, step, 20),
        tf.train.cosine_decay(0.5, step, 20, alpha=0.1, name="c"),
    ]


def global_step(tf):
    with tf.name_scope("scope"):
        step = tf.train.get_or_create_global_step()
    rate = tf.train.exponential_decay(0.1, step, 2, 0.5)
    x = tf.Variable(3.0)
    train = tf.train.GradientDescentOptimizer(rate).minimize(x * x, global_step=tf.train.get_global_step())
    with tf.control_dependencies([train]):
        return [tf.identity(step), tf.tables_initializer(), tf.add(x, 0.0)][::2]

"""Optimizers that are used less: the nodes of a training step, and the variables and slots after it."""


def _model(tf, optimizer, is_sparse=False, **options):
    """A step for a table of which rows are picked, one of them twice, or which is used whole; and for a vector."""
    table = tf.Variable([[1.0, -2.0], [3.0, 4.0], [-0.5, 0.25], [7.0, 8.0]], name="table")
    w = tf.Variable([0.5, -0.5], name="w")
    rows = tf.gather(table, [2, 0, 2]) if is_sparse else table * 0.25
    loss = tf.reduce_sum(tf.square(rows * w - 0.125))
    step = optimizer.minimize(loss, **options)
    slots = [optimizer.get_slot(v, name) for v in (table, w) for name in optimizer.get_slot_names()]
    with tf.control_dependencies([step]):
        return [tf.identity(v.read_value()) for v in [table, w] + slots]


def adadelta(tf):
    return _model(tf, tf.train.AdadeltaOptimizer(0.5))


def adadelta_of_rows(tf):
    return _model(tf, tf.train.AdadeltaOptimizer(lambda: 0.5, rho=0.9, epsilon=1e-3, name="delta"), True)


def rms_prop(tf):
    return _model(tf, tf.train.RMSPropOptimizer(0.1))


def rms_prop_of_rows(tf):
    return _model(tf, tf.train.RMSPropOptimizer(0.1, decay=0.5, momentum=0.9, epsilon=tf.constant(1e-4)), True)


def centered_rms_prop(tf):
    return _model(tf, tf.train.RMSPropOptimizer(0.1, momentum=0.5, centered=True, name="centered"))


def centered_rms_prop_of_rows(tf):
    return _model(tf, tf.train.RMSPropOptimizer(0.1, centered=True), True)


def proximal_gradient_descent(tf):
    return _model(tf, tf.train.ProximalGradientDescentOptimizer(0.1, 0.5, 0.25))


def proximal_gradient_descent_of_rows(tf):
    return _model(tf, tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=20.0), True)


def proximal_adagrad(tf):
    return _model(tf, tf.train.ProximalAdagradOptimizer(0.1, 0.5, 0.5, 0.25))


def proximal_adagrad_of_rows(tf):
    return _model(tf, tf.train.ProximalAdagradOptimizer(0.1), True)


def adagrad_da(tf):
    step = tf.Variable(2, trainable=False, name="global_step", dtype=tf.int64)
    return _model(tf, tf.train.AdagradDAOptimizer(0.1, step, 0.5, 0.01, 0.02), global_step=step)


def adagrad_da_of_rows(tf):
    step = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64)
    return _model(tf, tf.train.AdagradDAOptimizer(0.1, step), True)


def ftrl(tf):
    return _model(tf, tf.train.FtrlOptimizer(0.1))


def ftrl_with_penalties(tf):
    optimizer = tf.train.FtrlOptimizer(
        0.1, l1_regularization_strength=0.5, l2_regularization_strength=0.25, accum_name="a"
    )
    return _model(tf, optimizer)


def ftrl_of_another_power(tf):
    return _model(tf, tf.train.FtrlOptimizer(0.1, learning_rate_power=-0.75, initial_accumulator_value=0.5))


def ftrl_of_rows(tf):
    return _model(tf, tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.5, linear_name="b"), True)


def ftrl_with_shrinkage(tf):
    return _model(tf, tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.75))


def ftrl_of_rows_with_shrinkage(tf):
    return _model(tf, tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.75, name="f"), True)

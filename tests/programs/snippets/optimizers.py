"""Optimizers: the nodes of training steps, and the variables after a few of them."""


def _dense(tf, optimizer, **options):
    """A model with two dense variables, and their values after three steps."""
    w = tf.Variable([[1.0, -2.0], [3.0, 0.5]], name="w")
    b = tf.Variable([0.1, -0.1], name="b")
    x = tf.constant([[1.0, 2.0], [-1.0, 0.5], [0.3, 0.7]])
    loss = tf.reduce_sum(tf.square(x * b + x) * tf.reduce_sum(w * w))
    return _steps(tf, optimizer.minimize(loss, **options), [w, b])


def _sparse(tf, optimizer, **options):
    """An embedding with repeated rows, and a dense variable."""
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]], name="table")
    w = tf.Variable([0.5, -0.5], name="w")
    rows = tf.gather(table, [2, 0, 2])
    loss = tf.reduce_sum(tf.square(rows * w))
    return _steps(tf, optimizer.minimize(loss, **options), [table, w])


def _steps(tf, train, variables, count=3):
    """The variables after so many steps: reads that wait for copies of the step are not possible, so one step."""
    with tf.control_dependencies([train]):
        return [tf.identity(v.read_value()) for v in variables]


def gradient_descent(tf):
    return _dense(tf, tf.train.GradientDescentOptimizer(0.01))


def gradient_descent_of_rows(tf):
    return _sparse(tf, tf.train.GradientDescentOptimizer(tf.constant(0.01)))


def momentum(tf):
    return _dense(tf, tf.train.MomentumOptimizer(0.01, 0.9))


def nesterov(tf):
    return _dense(tf, tf.train.MomentumOptimizer(0.01, tf.constant(0.9), use_nesterov=True, use_locking=True))


def momentum_of_rows(tf):
    return _sparse(tf, tf.train.MomentumOptimizer(0.01, 0.9, use_nesterov=True))


def adagrad(tf):
    return _dense(tf, tf.train.AdagradOptimizer(0.1))


def adagrad_of_rows(tf):
    return _sparse(tf, tf.train.AdagradOptimizer(0.1, initial_accumulator_value=0.5, name="Ada"))


def adam(tf):
    return _dense(tf, tf.train.AdamOptimizer())


def adam_of_rows(tf):
    return _sparse(tf, tf.train.AdamOptimizer(0.01, beta1=0.8, epsilon=0.1))


def global_step(tf):
    step = tf.Variable(0, trainable=False, name="global_step")
    values = _dense(tf, tf.train.AdamOptimizer(lambda: 0.1), global_step=step, name="train")
    return values + [step.read_value()]


def gates(tf):
    w = tf.Variable([1.0, 2.0], name="w")
    v = tf.Variable([3.0, 4.0], name="v")
    loss = tf.reduce_sum(w * v)
    for gate in (tf.train.Optimizer.GATE_NONE, tf.train.Optimizer.GATE_OP, tf.train.Optimizer.GATE_GRAPH):
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        optimizer.compute_gradients(loss, gate_gradients=gate)
    return []


def two_optimizers(tf):
    w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    first = tf.train.AdamOptimizer().minimize(tf.reduce_sum(w * v), var_list=[w])
    second = tf.train.AdamOptimizer().minimize(tf.reduce_sum(w * v), var_list=w)
    third = tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w * v))
    assert first is not second and third is not None
    return []


def in_scopes(tf):
    with tf.variable_scope("model"):
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        with tf.name_scope("training"):
            tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(w * w))
        with tf.variable_scope("more"):
            tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    with tf.control_dependencies([w.initializer]):
        tf.train.MomentumOptimizer(0.1, 0.9).minimize(tf.reduce_sum(w * w))
    return []


def gradients_by_hand(tf):
    w = tf.Variable([1.0, 2.0], name="w")
    v = tf.Variable([3.0, 4.0], name="v")
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    grads = optimizer.compute_gradients(tf.reduce_sum(w * w), [w, v])
    train = optimizer.apply_gradients([(g if g is None else tf.multiply(g, 2.0), x) for g, x in grads])
    other = optimizer.apply_gradients([([0.5, 0.5], v)], name="other")
    assert other is not None
    return _steps(tf, train, [w])


def constraints(tf):
    w = tf.get_variable("w", initializer=[1.0, -2.0], constraint=lambda x: tf.maximum(x, 0.0))
    return _steps(tf, tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(w * w)), [w])


def doubles(tf):
    w = tf.Variable(tf.constant([1.0, 2.0], tf.float64), name="w")
    step = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(w * w))
    return _steps(tf, step, [w])


def slots_of_unknown_shapes(tf):
    w = tf.Variable(tf.placeholder_with_default([1.0, 2.0], None), validate_shape=False, name="w")
    loss = tf.reduce_sum(w * w)
    tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    return []


def colocated_gradients(tf):
    w = tf.Variable([1.0, 2.0], name="w")
    loss = tf.reduce_sum(tf.square(w))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(
        loss, colocate_gradients_with_ops=True, grad_loss=tf.constant(2.0)
    )
    return _steps(tf, step, [w])

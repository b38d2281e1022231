"""tf.distribute: what strategies of one device make."""


def _one_device(tf):
    return tf.distribute.OneDeviceStrategy("/cpu:0")


def variables_and_reductions(tf):
    strategy = _one_device(tf)
    with strategy.scope():
        v = tf.Variable([1.0, 2.0], name="v")

        def replica(x):
            u = tf.get_variable("u", initializer=3.0)
            return x * v + u

        values = strategy.experimental_run_v2(replica, args=(tf.constant([2.0, 3.0]),))
        mean = strategy.reduce("mean", values, axis=0)
        total = strategy.reduce(tf.distribute.ReduceOp.SUM, values, axis=None)
        read = strategy.extended.read_var(v)
    with strategy.scope():
        change = strategy.extended.update(v, lambda var, x: var.assign_add(x), args=([1.0, 1.0],), group=False)
    return [mean, total, read], list(change), [read]


def _trained(tf, optimizer, steps=True):
    strategy = _one_device(tf)
    with strategy.scope():
        step = tf.train.get_or_create_global_step() if steps else None

        def replica():
            x = tf.get_variable("x", initializer=[1.0, -2.0])
            table = tf.get_variable("table", [3, 2], initializer=tf.ones_initializer())
            loss = tf.reduce_sum(x * x) + tf.reduce_sum(tf.square(tf.nn.embedding_lookup(table, [0, 2, 2])))
            return x, table, optimizer.minimize(loss, global_step=step)

        x, table, train = strategy.experimental_run_v2(replica)
    return [train], [x, table], [train], [x, table]


def gradient_descent(tf):
    return _trained(tf, tf.train.GradientDescentOptimizer(0.1))


def adam_without_steps(tf):
    return _trained(tf, tf.train.AdamOptimizer(), steps=False)


def momentum(tf):
    return _trained(tf, tf.train.MomentumOptimizer(0.1, 0.9))

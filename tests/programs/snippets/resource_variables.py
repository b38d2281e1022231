"""Resource variables: their nodes, reads, changes, gradients, and the updates of every optimizer."""


def creation(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    w = tf.Variable(lambda: tf.zeros([2, 3]), use_resource=True, trainable=False)
    with tf.variable_scope("scope", use_resource=True):
        u = tf.get_variable("u", initializer=tf.constant([[1, 2]]))
        t = tf.Variable(3.0, name="t", dtype=tf.float64)
    return [v, w, u, t, v.initial_value, tf.is_variable_initialized(v), v.is_initialized()]


def enabled(tf):
    tf.enable_resource_variables()
    try:
        v = tf.Variable(1.0)
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer())
        x = tf.Variable(2.0, use_resource=False)
    finally:
        tf.disable_resource_variables()
    return [v + w, x + 1.0]


def reads(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True, name="v")
    results = [v + 1.0, 2.0 * v, v.read_value(), v.value(), v[0], v[:, 1], -v, tf.matmul(v, v), tf.identity(v)]
    results += [tf.gather(v, [1, 0, 1]), tf.gather(v, [[0]], name="g"), tf.gather_nd(v, [[0, 1], [1, 0]])]
    results += [v.sparse_read([1]), tf.nn.embedding_lookup(v, [1, 1, 0]), tf.gather(v, [0], axis=1)]
    with tf.name_scope("inside"):
        results.append(tf.reduce_sum(v * v))
    return results


def changes(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v")
    a = v.assign([3.0, 4.0])
    with tf.control_dependencies([a]):
        b = v.assign_add([1.0, 1.0], name="plus")
    with tf.control_dependencies([b]):
        c = tf.assign_sub(v, [0.5, 0.5])
    with tf.control_dependencies([c]):
        d = tf.assign(v, v * 2.0)
    with tf.control_dependencies([d]):
        e = v.assign_add([1.0, 1.0], read_value=False)
    with tf.control_dependencies([e]):
        f = tf.identity(v)
    group = tf.group(a, b, e)
    with tf.control_dependencies([group]):
        return [f, d + 1.0]


def scatters(tf):
    results = []
    with_all = (
        tf.scatter_update,
        tf.scatter_add,
        tf.scatter_sub,
        tf.scatter_mul,
        tf.scatter_div,
        tf.scatter_min,
        tf.scatter_max,
    )
    for scatter in with_all:
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
        results.append(scatter(v, [2, 0], [[2.0, 4.0], [0.5, 8.0]]))
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], use_resource=True)
    results.append(v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 1.0]]), tf.constant([1]))))
    w = tf.Variable([1, 2, 3], use_resource=True)
    results.append(tf.scatter_update(w, [1], [7], name="named"))
    return results


def caching(tf):
    v = tf.Variable([1.0, 2.0], use_resource=True, name="v", caching_device="/cpu:0")
    return [v + 1.0, v.assign_add([1.0, 1.0])]


def gradients(tf):
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]], use_resource=True, name="v")
    y = tf.reduce_sum(tf.square(v)) + tf.reduce_sum(v[0] * 3.0)
    (dense,) = tf.gradients(y, v)
    (rows,) = tf.gradients(tf.reduce_sum(tf.gather(v, [1, 1]) * [2.0, 5.0]), [v])
    (both,) = tf.gradients(tf.reduce_sum(tf.gather(v, [1])) + tf.reduce_sum(v), v)
    (read,) = tf.gradients(y, v.value())
    return [dense, rows.values, rows.indices, rows.dense_shape, both] + ([] if read is None else [read])


def _problem(tf):
    v = tf.Variable([1.0, -2.0], use_resource=True, name="v")
    e = tf.Variable([[0.5, 1.0], [1.5, 2.0], [2.5, 3.0], [-1.0, 1.0]], use_resource=True, name="e")
    loss = tf.reduce_sum(tf.square(v)) + tf.reduce_sum(tf.square(tf.gather(e, [0, 2, 0])) * 3.0)
    return v, e, loss


def _trained(tf, optimizer, global_step=None):
    v, e, loss = _problem(tf)
    step = optimizer.minimize(loss, global_step=global_step)
    with tf.control_dependencies([step]):
        return [v.read_value(), e.read_value()] + ([] if global_step is None else [global_step.read_value()])


def gradient_descent(tf):
    return _trained(tf, tf.train.GradientDescentOptimizer(0.1), tf.Variable(0, use_resource=True, trainable=False))


def momentum(tf):
    return _trained(tf, tf.train.MomentumOptimizer(0.1, 0.9))


def nesterov(tf):
    return _trained(tf, tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True))


def adagrad(tf):
    return _trained(tf, tf.train.AdagradOptimizer(0.1))


def adadelta(tf):
    return _trained(tf, tf.train.AdadeltaOptimizer(0.1))


def adam(tf):
    return _trained(tf, tf.train.AdamOptimizer(0.1))


def rms_prop(tf):
    return _trained(tf, tf.train.RMSPropOptimizer(0.1, momentum=0.5))


def centered_rms_prop(tf):
    return _trained(tf, tf.train.RMSPropOptimizer(0.1, centered=True))


def ftrl(tf):
    return _trained(tf, tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01))


def shrinking_ftrl(tf):
    return _trained(tf, tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.1))


def proximal_gradient_descent(tf):
    return _trained(tf, tf.train.ProximalGradientDescentOptimizer(0.1, l1_regularization_strength=0.1))


def proximal_adagrad(tf):
    return _trained(tf, tf.train.ProximalAdagradOptimizer(0.1, l2_regularization_strength=0.1))


def constrained(tf):
    v = tf.Variable([1.0, -2.0], use_resource=True, name="v", constraint=lambda x: tf.maximum(x, 0.0))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(v)))
    with tf.control_dependencies([step]):
        return [v.read_value()]


def unconnected(tf):
    v = tf.Variable([[1.0, 2.0]], use_resource=True, name="v")
    w = tf.Variable([3.0], use_resource=True)
    return tf.gradients(tf.reduce_sum(w), [v, w], unconnected_gradients=tf.UnconnectedGradients.ZERO)


def in_parts(tf):
    with tf.variable_scope("s", use_resource=True, partitioner=tf.fixed_size_partitioner(2)):
        table = tf.get_variable("table", [5, 3], initializer=tf.ones_initializer())
    rows = tf.nn.embedding_lookup(table, tf.placeholder_with_default([0, 4, 3, 4], [4]))
    loss = tf.reduce_sum(tf.square(rows))
    train = tf.train.AdagradOptimizer(0.1).minimize(loss)
    with tf.control_dependencies([train]):
        return [tf.concat([part.read_value() for part in table], 0)]


def parts(tf):
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], use_resource=True, name="v")
    with tf.control_dependencies([v.initializer]):
        a = v[1:, 0].assign([9.0])
    with tf.control_dependencies([a]):
        b = v[..., ::2].assign(tf.zeros([2, 2]), name="named")
    with tf.control_dependencies([b]):
        c = tf.scatter_nd_update(v, [[0, 1]], [7.0])
    with tf.control_dependencies([c]):
        d = tf.scatter_nd_add(v, [[0], [0]], tf.ones([2, 3]), name="add")
    with tf.control_dependencies([d]):
        e = v.scatter_nd_sub([[1, 1], [1, 2]], [0.5, 0.25])
    with tf.control_dependencies([e]):
        f = v.scatter_nd_add([[1]], [[1.0, 1.0, 1.0]])
    with tf.control_dependencies([f]):
        g = v.scatter_nd_update([[0, 0]], [3.0])
    return [g.read_value()]


def batches_of_rows(tf):
    v = tf.Variable([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], use_resource=True, name="v")
    with tf.control_dependencies([v.initializer]):
        return [tf.batch_scatter_update(v, [[2, 0], [1, 2]], [[7.0, 8.0], [9.0, 10.0]]).read_value()]


def noise_contrastive(tf):
    weights = tf.Variable(tf.ones([9, 3]), use_resource=True, name="weights")
    biases = tf.Variable(tf.zeros([9]), use_resource=True, name="biases")
    table = tf.Variable(tf.fill([9, 3], 0.5), use_resource=True, name="table")
    inputs = tf.nn.embedding_lookup(table, [1, 5, 7, 7])
    labels = tf.constant([[2], [3], [2], [0]], tf.int64)
    sampled = tf.nn.log_uniform_candidate_sampler(labels, 1, 5, True, 9, seed=3)
    loss = tf.reduce_mean(tf.nn.nce_loss(weights, biases, labels, inputs, 5, 9, sampled_values=sampled))
    train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
    with tf.control_dependencies([train]):
        return [table.read_value(), weights.read_value(), biases.read_value()]

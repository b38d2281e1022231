"""Optimizers of contrib: the nodes of a training step, and the variables and slots after it."""

import importlib

from programs.snippets.more_optimizers import _model


def _resource_model(tf, optimizer, **options):
    """A step for a resource variable of which rows are picked, one of them twice."""
    table = tf.get_variable(
        "table", initializer=[[1.0, -2.0], [3.0, 4.0], [-0.5, 0.25], [7.0, 8.0]], use_resource=True
    )
    loss = tf.reduce_sum(tf.square(tf.gather(table, [2, 0, 2]) * [0.5, -0.5] - 0.125))
    step = optimizer.minimize(loss, **options)
    slots = [optimizer.get_slot(table, name) for name in optimizer.get_slot_names()]
    with tf.control_dependencies([step]):
        return [tf.identity(v.read_value()) for v in [table] + slots]


def _apply(tf, optimizer, is_sparse=False, **options):
    """A step by given gradients: TensorFlow may read variables for them before or after weights decay."""
    table = tf.Variable([[1.0, -2.0], [3.0, 4.0], [-0.5, 0.25], [7.0, 8.0]], name="table")
    grad = tf.constant([[0.5, -1.0], [0.25, 0.0], [2.0, 1.0], [0.0, 4.0]])
    if is_sparse:
        grad = tf.IndexedSlices(grad[:3], tf.constant([3, 0, 3]), tf.constant([4, 2]))
    step = optimizer.apply_gradients([(grad, table)], **options)
    slots = [optimizer.get_slot(table, name) for name in optimizer.get_slot_names()]
    with tf.control_dependencies([step]):
        return [tf.identity(v.read_value()) for v in [table] + slots]


def _sign_decay(tf):
    return importlib.import_module(tf.__name__ + ".contrib.opt.python.training.sign_decay")


def _global_step(tf, value=0):
    return tf.Variable(value, trainable=False, name="global_step", dtype=tf.int64)


def lazy_adam(tf):
    return _model(tf, tf.contrib.opt.LazyAdamOptimizer(0.1))


def lazy_adam_of_rows(tf):
    return _model(tf, tf.contrib.opt.LazyAdamOptimizer(0.1, beta1=0.5, beta2=0.75, epsilon=1e-3), True)


def lazy_adam_of_resource_rows(tf):
    return _resource_model(tf, tf.contrib.opt.LazyAdamOptimizer(lambda: 0.1))


def ada_max(tf):
    return _model(tf, tf.contrib.opt.AdaMaxOptimizer(0.1))


def ada_max_of_rows(tf):
    return _model(tf, tf.contrib.opt.AdaMaxOptimizer(0.1, beta1=0.5, beta2=0.75, epsilon=1e-3, name="a"), True)


def ada_max_of_resource_rows(tf):
    return _resource_model(tf, tf.contrib.opt.AdaMaxOptimizer(0.1))


def nadam(tf):
    return _model(tf, tf.contrib.opt.NadamOptimizer(0.1))


def nadam_of_rows(tf):
    return _model(tf, tf.contrib.opt.NadamOptimizer(0.1), True)


def nadam_of_resource_rows(tf):
    return _resource_model(tf, tf.contrib.opt.NadamOptimizer(0.1))


def adam_of_global_step(tf):
    step = _global_step(tf, 2)
    return _model(tf, tf.contrib.opt.AdamGSOptimizer(step, 0.1), global_step=step)


def adam_of_global_step_of_rows(tf):
    step = _global_step(tf)
    return _model(tf, tf.contrib.opt.AdamGSOptimizer(step, 0.1), True, global_step=step)


def lazy_adam_of_global_step(tf):
    step = _global_step(tf, 2)
    return _model(tf, tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1), True, global_step=step)


def lazy_adam_of_global_step_of_resource_rows(tf):
    step = _global_step(tf, 2)
    return _resource_model(tf, tf.contrib.opt.LazyAdamGSOptimizer(step, 0.1), global_step=step)


def adam_w(tf):
    return _apply(tf, tf.contrib.opt.AdamWOptimizer(0.01, 0.1))


def adam_w_of_rows(tf):
    return _apply(tf, tf.contrib.opt.AdamWOptimizer(0.01, 0.1), True)


def momentum_w_of_resource_rows(tf):
    return _resource_model(tf, tf.contrib.opt.MomentumWOptimizer(0.01, 0.1, 0.9, use_nesterov=True))


def adam_w_of_some(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    b = tf.Variable(2.0, name="b")
    step = tf.contrib.opt.AdamWOptimizer(tf.constant(0.01), 0.1).minimize(
        tf.reduce_sum(w * b), decay_var_list=[w], name="step"
    )
    with tf.control_dependencies([step]):
        return [w.read_value(), b.read_value()]


def weight_decay_for_another_optimizer(tf):
    optimizer = tf.contrib.opt.extend_with_decoupled_weight_decay(tf.train.RMSPropOptimizer)
    return _apply(tf, optimizer(weight_decay=0.01, learning_rate=0.1))


def power_sign(tf):
    return _model(tf, tf.contrib.opt.PowerSignOptimizer())


def power_sign_of_rows(tf):
    return _model(tf, tf.contrib.opt.PowerSignOptimizer(0.2, base=3.0, beta=0.5), True)


def power_sign_of_resource(tf):
    w = tf.get_variable("w", initializer=[0.5, -0.5, 0.0], use_resource=True)
    optimizer = tf.contrib.opt.PowerSignOptimizer()
    steps = optimizer.apply_gradients([(tf.constant([1.0, 2.0, -3.0]), w)])
    with tf.control_dependencies([steps]):
        return [w.read_value(), optimizer.get_slot(w, "m").read_value()]


def add_sign(tf):
    step = _global_step(tf, 3)
    optimizer = tf.contrib.opt.AddSignOptimizer(sign_decay_fn=_sign_decay(tf).get_linear_decay_fn(10))
    return _model(tf, optimizer, global_step=step)


def add_sign_of_rows(tf):
    return _model(tf, tf.contrib.opt.AddSignOptimizer(0.2, alpha=2.0, beta=0.5), True)


def sign_decays(tf):
    sign_decay = _sign_decay(tf)
    step = tf.constant(7)
    return [
        sign_decay.get_linear_decay_fn(5)(step),
        sign_decay.get_cosine_decay_fn(20)(step),
        sign_decay.get_cosine_decay_fn(20, num_periods=5, zero_after=1)(step),
        sign_decay.get_restart_decay_fn(20, num_periods=4)(step),
        sign_decay.get_restart_decay_fn(20, num_periods=4, zero_after=3)(step),
    ]


def moving_average(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    b = tf.get_variable("b", initializer=2.0, use_resource=True)
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), 0.75)
    step = optimizer.minimize(tf.reduce_sum(w * b))
    optimizer.swapping_saver()
    with tf.control_dependencies([step]):
        return [v.read_value() for v in tf.global_variables()]


def moving_average_at_the_same_time(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    count = tf.Variable(3, trainable=False, name="count")
    optimizer = tf.contrib.opt.MovingAverageOptimizer(
        tf.train.GradientDescentOptimizer(0.5), 0.75, num_updates=count, sequential_update=False
    )
    optimizer.minimize(tf.reduce_sum(w * w), global_step=count)


def moving_average_of_parts(tf):
    w = tf.get_variable("w", [4, 2], partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer())
    optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.5))
    optimizer.minimize(tf.reduce_sum(tf.square(tf.convert_to_tensor(w))))
    optimizer.swapping_saver(sharded=False, max_to_keep=3)


def variable_clipping(tf):
    table = tf.Variable([[1.0, -2.0], [3.0, 4.0], [-0.5, 0.25], [7.0, 8.0]], name="table")
    w = tf.Variable([0.5, -0.5], name="w")
    optimizer = tf.contrib.opt.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(0.5), {table: [1], w: [0]}, 2.0
    )
    step = optimizer.minimize(tf.reduce_sum(tf.gather(table, [0, 3]) * w))
    with tf.control_dependencies([step]):
        return [table.read_value(), w.read_value()]


def variable_clipping_beside_variables(tf):
    table = tf.get_variable("table", initializer=[[1.0, -2.0], [3.0, 4.0]], use_resource=True)
    optimizer = tf.contrib.opt.VariableClippingOptimizer(
        tf.train.GradientDescentOptimizer(0.5), {table: [0]}, 2.0, colocate_clip_ops_with_vars=True
    )
    step = optimizer.minimize(tf.reduce_sum(tf.gather(table, [1])))
    with tf.control_dependencies([step]):
        return [table.read_value()]


def scipy_interface(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    b = tf.Variable(2.0, name="b")
    unused = tf.Variable([[2.0]], name="unused")
    loss = tf.reduce_sum(tf.square(w * b - 1.0))
    tf.contrib.opt.ScipyOptimizerInterface(
        loss, var_list=[w, b, unused], equalities=[b - 1.0], inequalities=[w - 0.125], options={"maxiter": 3}
    )


def scipy_interface_of_one_variable(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    tf.contrib.opt.ScipyOptimizerInterface(tf.reduce_sum(tf.square(w)), var_to_bounds={w: (-1.0, 1.0)})


def multitask(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    b = tf.Variable([1.0, 2.0], name="b")
    optimizer = tf.contrib.opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.5, 0.9))
    grads, norm = tf.contrib.opt.clip_gradients_by_global_norm(
        [(tf.constant([3.0, 4.0]), w), (tf.constant([0.0, 0.0]), b), (None, w)], 2.0
    )
    step = optimizer.apply_gradients(grads)
    with tf.control_dependencies([step]):
        return [w.read_value(), b.read_value(), norm]


def reg_adagrad(tf):
    w = tf.Variable([0.5, -0.5], name="w")
    optimizer = tf.contrib.opt.RegAdagradOptimizer(0.5)
    step = optimizer.minimize(tf.reduce_sum(w * w))
    with optimizer.avoid_updating_slots(), tf.control_dependencies([step]):
        regularization = optimizer.minimize(tf.reduce_sum(tf.gather(w, [1]) * 3.0))
    with tf.control_dependencies([regularization]):
        return [w.read_value(), optimizer.get_slot(w, "accumulator").read_value()]


def lars(tf):
    return _model(tf, tf.contrib.opt.LARSOptimizer(0.1))


def lars_that_skips(tf):
    optimizer = tf.contrib.opt.LARSOptimizer(0.1, epsilon=0.5, skip_list=["w"], use_nesterov=True)
    return _model(tf, optimizer, True)


def shampoo(tf):
    return _apply(tf, tf.contrib.opt.ShampooOptimizer(learning_rate=0.5, gbar_decay=0.5, gbar_weight=0.5))


def shampoo_of_diagonals(tf):
    optimizer = tf.contrib.opt.ShampooOptimizer(_global_step(tf), max_matrix_size=3, mat_gbar_decay=0.9)
    return _apply(tf, optimizer)


def shampoo_of_rows(tf):
    return _apply(tf, tf.contrib.opt.ShampooOptimizer(max_matrix_size=3), True)


def shampoo_by_iterations(tf):
    optimizer = tf.contrib.opt.ShampooOptimizer(svd_interval=2, precond_update_interval=2, use_iterative_root=True)
    return _apply(tf, optimizer)

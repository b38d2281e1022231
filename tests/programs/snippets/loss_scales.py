"""tf.train.experimental: losses that are scaled, and optimizers that scale them."""


def _model(tf):
    x = tf.get_variable("x", initializer=[1.0, 2.0], use_resource=True)
    table = tf.get_variable("table", initializer=[[1.0, 2.0], [3.0, 4.0]], use_resource=True)
    loss = tf.reduce_sum(tf.square(x)) + tf.reduce_sum(tf.gather(table, [1]))
    return loss, tf.train.get_or_create_global_step()


def a_fixed_scale(tf):
    scale = tf.train.experimental.FixedLossScale(8)
    update, is_good = scale.update([tf.constant(1.0)])
    assert is_good
    return [scale()]


def an_optimizer_with_a_fixed_scale(tf):
    loss, step = _model(tf)
    scaled = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(0.5), 8)
    scaled.minimize(loss, global_step=step)
    return [loss]


def an_optimizer_with_a_dynamic_scale(tf):
    loss, step = _model(tf)
    scale = tf.train.experimental.DynamicLossScale(4.0, increment_period=2, multiplier=4)
    scaled = tf.train.experimental.MixedPrecisionLossScaleOptimizer(tf.train.MomentumOptimizer(0.5, 0.9), scale)
    scaled.minimize(loss, global_step=step, name="train")
    return [scale()]


def updates_of_a_dynamic_scale(tf):
    scale = tf.train.experimental.DynamicLossScale(increment_period=3)
    update, is_good = scale.update([tf.constant([1.0, 2.0]), None, tf.constant(3.0)])
    return [is_good, scale()]

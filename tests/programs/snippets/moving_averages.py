"""Moving averages, initial values that depend on variables, and what else has branches of its own."""


def average_of_variables(tf):
    v, w = tf.Variable([1.0, 2.0], name="v"), tf.Variable(3.0, name="w")
    ema = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([v.assign_add([10.0, 20.0]), w.assign(5.0)]):
        update = ema.apply([v, w])
    with tf.control_dependencies([update]):
        return [tf.identity(ema.average(v).read_value()), ema.average(w).read_value()]


def average_of_all_variables(tf):
    tf.Variable([1.0, 2.0], name="v")
    tf.get_variable("w", [2], initializer=tf.zeros_initializer())
    step = tf.Variable(3, trainable=False, name="step")
    ema = tf.train.ExponentialMovingAverage(0.999, num_updates=step, name="avg")
    with tf.control_dependencies([ema.apply()]):
        return [tf.constant(1.0)] + [tf.identity(ema.average(v)) for v in tf.trainable_variables()]


def average_of_resource_variables(tf):
    with tf.variable_scope("net", use_resource=True):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    ema = tf.train.ExponentialMovingAverage(0.5)
    with tf.control_dependencies([v.assign_add([2.0, 4.0])]):
        update = ema.apply([v])
    with tf.control_dependencies([update]):
        return [ema.average(v).read_value()]


def average_of_tensors(tf):
    x = tf.constant([4.0, 8.0]) * 2.0
    plain, debiased = tf.train.ExponentialMovingAverage(0.9), tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
    updates = [plain.apply([x]), debiased.apply([x])]
    with tf.control_dependencies(updates):
        return [plain.average(x).read_value(), debiased.average(x).read_value()]


def averages_in_scopes(tf):
    with tf.variable_scope("a"):
        v = tf.get_variable("v", [], initializer=tf.ones_initializer())
        loss = tf.square(v, name="loss")
    ema = tf.train.ExponentialMovingAverage(0.9)
    with tf.name_scope("train"):
        update = ema.apply([v, loss])
    with tf.control_dependencies([update]):
        return [ema.average(v) + 0.0, ema.average(loss) + 0.0]


def twice(tf):
    v, w = tf.Variable(1.0, name="v"), tf.Variable(2.0, name="w")
    ema = tf.train.ExponentialMovingAverage(0.5)
    first = ema.apply([v])
    with tf.control_dependencies([first]):
        second = ema.apply([v, w])
    with tf.control_dependencies([second]):
        return [tf.identity(ema.average(w))]


# ---- Initial values ---------------------------------------------------------------------------------------------


def initialized_values(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(v.initialized_value() * 2.0, name="w")
    u = tf.get_variable("u", initializer=lambda: w.initialized_value() + 1.0)
    return [v.initialized_value(), w + 0.0, u + 0.0]


def initialized_values_of_resources(tf):
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer(), use_resource=True)
    w = tf.get_variable("w", initializer=v.initialized_value() * 2.0, use_resource=True)
    return [v.initialized_value(), w + 0.0]


def dependent_initial_values(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(v * 2.0, name="w")
    with tf.name_scope("scope"):
        u = tf.Variable(tf.reduce_sum(v) + v[0], name="u")
    x = tf.Variable(v, name="x")
    return [w + 0.0, u + 0.0, x + 0.0]


def are_initialized(tf):
    v = tf.Variable(1.0, name="v")
    w = tf.get_variable("w", [], use_resource=True)
    return [tf.is_variable_initialized(v), tf.is_variable_initialized(w)]


def slots_of_unknown_shape(tf):
    v = tf.Variable(tf.placeholder_with_default(tf.constant([1.0, 2.0]), None), validate_shape=False, name="v")
    loss = tf.reduce_sum(tf.square(v))
    train = tf.train.MomentumOptimizer(0.1, 0.9).minimize(loss)
    ema = tf.train.ExponentialMovingAverage(0.9)
    with tf.control_dependencies([train]):
        update = ema.apply([v])
    with tf.control_dependencies([update]):
        return [v + 0.0]


# ---- What has branches of its own ---------------------------------------------------------------------------------


def zero_fractions(tf):
    x = tf.placeholder_with_default(tf.constant([0.0, 1.0, 0.0, 2.0]), [None])
    return [tf.nn.zero_fraction(x), tf.nn.zero_fraction(tf.constant([[0, 3]]), name="z"), tf.math.zero_fraction(x)]


def order(tf):
    x = tf.placeholder_with_default(tf.constant([1, 2, 2]), [None])
    return [
        tf.is_non_decreasing(x), tf.is_strictly_increasing(x), tf.is_non_decreasing(tf.constant([2.0, 1.0])),
        tf.is_strictly_increasing(tf.constant([1.0])), tf.debugging.is_non_decreasing(x, name="n"),
        tf.math.is_strictly_increasing(tf.constant([[1, 2], [3, 4]])),
    ]  # fmt: skip


def guarded_assertions(tf):
    x, y = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [None]), tf.constant([2.0, 3.0])
    with tf.control_dependencies(
        [
            tf.Assert(tf.reduce_all(x > 0), [x, "x"], summarize=2), tf.assert_less(x, y), tf.assert_positive(y),
            tf.assert_near(x, x + 1e-9), tf.assert_equal(x, x + 0.0, message="m", name="same"),
            tf.assert_rank(x, 1), tf.assert_rank_at_least(tf.placeholder_with_default(y, None), 1, data=[y]),
            tf.assert_non_negative(tf.constant(1.0)), tf.assert_rank_in(tf.placeholder_with_default(y, None), [1, 2]),
        ]
    ):  # fmt: skip
        return [tf.identity(x)]


# ---- Learning rates -----------------------------------------------------------------------------------------------


def piecewise_constants(tf):
    step = tf.Variable(7, name="step", trainable=False)
    wide = tf.Variable(7, name="wide", trainable=False, dtype=tf.int64)
    return [
        tf.train.piecewise_constant(step, [5, 10], [1.0, 0.5, 0.1]),
        tf.train.piecewise_constant_decay(wide, [5, 6, 7], [1, 2, 3, 4], name="rate"),
        tf.train.piecewise_constant(tf.constant(11.0), [5.0, 10.0], [tf.constant(1.0), 0.5, 0.1]),
        tf.train.piecewise_constant(tf.constant(5), [5], [1.0, 0.5]),
    ]


def cyclic_polynomials(tf):
    step = tf.Variable(7, name="step", trainable=False)
    return [
        tf.train.polynomial_decay(0.1, step, 5, cycle=True),
        tf.train.polynomial_decay(0.1, tf.constant(0), 5, 0.01, power=2.0, cycle=True, name="p"),
    ]


def cosines(tf):
    tf.set_random_seed(3)
    step = tf.Variable(7, name="step", trainable=False)
    return [
        tf.train.cosine_decay_restarts(0.1, step, 3),
        tf.train.cosine_decay_restarts(0.1, step, 3, 1.0, 0.5, 0.1, "r"),
        tf.train.linear_cosine_decay(0.1, step, 10), tf.train.linear_cosine_decay(0.1, step, 5, 2.0, 0.1, 0.2, "l"),
        tf.train.noisy_linear_cosine_decay(0.1, step, 10),
    ]  # fmt: skip

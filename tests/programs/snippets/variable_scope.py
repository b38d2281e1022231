"""Variables found by name: scopes, reuse, initializers, regularizers, parts."""


def names_and_reuse(tf):
    with tf.variable_scope("a") as scope:
        v = tf.get_variable("v", [2, 3], initializer=tf.zeros_initializer())
        w = tf.get_variable("w", initializer=tf.constant([1.0, 2.0]))
        with tf.variable_scope("b"):
            u = tf.get_variable("u", [], tf.int32)
    with tf.variable_scope("a", reuse=True):
        same = tf.get_variable("v", [2, 3])
    with tf.variable_scope(scope, reuse=tf.AUTO_REUSE):
        again = tf.get_variable("w", [2])
        new = tf.get_variable("x", [2], initializer=tf.ones_initializer())
        sum = tf.add(again, new)
    with tf.variable_scope(scope, auxiliary_name_scope=False):
        other = tf.add(sum, 1.0)
    with tf.variable_scope("a"):
        last = tf.add(other, 1.0)
    assert same is v
    return [v, w, u, last]


def default_names(tf):
    values = []
    for _ in range(3):
        with tf.variable_scope(None, "layer"):
            values.append(tf.get_variable("v", [2], initializer=tf.zeros_initializer()))
    with tf.variable_scope("outer"):
        for _ in range(2):
            with tf.variable_scope(None, "layer"):
                values.append(tf.get_variable("v", [2], initializer=tf.zeros_initializer()))
    with tf.variable_scope("outer"), tf.variable_scope(None, "layer"):
        values.append(tf.get_variable("v_1", [2], initializer=tf.zeros_initializer()))
    return values


def defaults_of_a_scope(tf):
    tf.set_random_seed(5)
    with tf.variable_scope("s", initializer=tf.random_normal_initializer(stddev=0.1), dtype=tf.float64):
        v = tf.get_variable("v", [3])
        with tf.variable_scope("t", initializer=tf.constant_initializer([1, 2, 3])):
            w = tf.get_variable("w", [3], tf.float32)
    return [v, w]


def initializers_by_default(tf):
    tf.set_random_seed(5)
    return [
        tf.get_variable("glorot", [4, 5]),
        tf.get_variable("integers", [4], tf.int64),
        tf.get_variable("bools", [4], tf.bool),
        tf.get_variable("large", [40, 50], tf.int32),
    ]


def all_initializers(tf):
    tf.set_random_seed(7)
    i = tf.initializers
    makers = [
        i.zeros(), i.ones(), i.constant(3), i.constant([1, 2, 3, 4, 5, 6]), i.random_uniform(-1, 1),
        i.random_normal(1, 2, seed=3), i.truncated_normal(), i.uniform_unit_scaling(1.15), i.variance_scaling(),
        i.variance_scaling(2.0, "fan_out", "untruncated_normal"), i.glorot_uniform(), i.glorot_normal(),
        i.he_normal(), i.he_uniform(), i.lecun_normal(3), i.lecun_uniform(),
        tf.random_uniform_initializer(0, 10, dtype=tf.float32), tf.variance_scaling_initializer(mode="fan_avg"),
    ]  # fmt: skip
    return [tf.get_variable("v%d" % n, [2, 3], initializer=maker) for n, maker in enumerate(makers)]


def fans(tf):
    tf.set_random_seed(7)
    shapes = [[], [4], [2, 3], [3, 3, 4, 5]]
    return [tf.get_variable("v%d" % n, shape) for n, shape in enumerate(shapes)]


def regularizers_and_collections(tf):
    with tf.variable_scope("s", regularizer=lambda v: tf.reduce_sum(v, name="total")):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
        w = tf.get_variable("w", [2], initializer=tf.ones_initializer(), regularizer=tf.no_regularizer)
    local = tf.get_local_variable("local", [2], initializer=tf.zeros_initializer())
    return [v, w] + tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) if local is not None else []


def custom_getters(tf):
    def doubled(getter, name, *args, **kwargs):
        return tf.multiply(getter(name, *args, **kwargs), 2.0, name=name.split("/")[-1] + "_doubled")

    def added(getter, name, *args, **kwargs):
        return tf.add(getter(name, *args, **kwargs), 1.0)

    with tf.variable_scope("s", custom_getter=doubled), tf.variable_scope("t", custom_getter=added):
        v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    return [v]


def initial_value_functions(tf):
    v = tf.get_variable("v", initializer=lambda: tf.ones([2, 3]))
    w = tf.Variable(lambda: tf.zeros([2]), name="w")
    return [v, w]

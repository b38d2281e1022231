"""Functions with gradients of their own that use variables, and Python functions that are executed eagerly."""


def _variable(tf):
    tf.get_variable_scope().set_use_resource(True)
    return tf.get_variable("v", initializer=[1.0, 2.0])


def recomputed(tf):
    v, x = _variable(tf), tf.constant([0.3, 0.4])
    y = tf.recompute_grad(lambda x: x * v * x)(x)
    return [y, *tf.gradients(y, [x, v])]


def passed_through(tf):
    v, x = _variable(tf), tf.constant([0.3, 0.6])
    y = tf.grad_pass_through(lambda x: tf.round(x) * v)(x)
    return [y, *tf.gradients(y * 3.0, [x])]


def of_variables(tf):
    v, x = _variable(tf), tf.constant([0.3, 0.4])

    @tf.custom_gradient
    def scaled(x):
        def grad(d, variables=None):
            return d * 7.0, [tf.constant([5.0, 6.0]) for _ in variables]

        return x * v, grad

    return tf.gradients(scaled(x), [x, v])


def executed(tf):
    x = tf.constant([1.0, -2.0, 3.0])
    y = tf.py_function(lambda a, b: tf.where(a > 0, a * a * b, -a), [x, tf.constant(3.0)], tf.float32)
    a, b = tf.py_function(lambda a: (a + 1, tf.cast(a, tf.int32)), [x], [tf.float32, tf.int32])
    joined = tf.py_function(lambda t: tf.strings.join([t, "x"]), [tf.constant("ab")], tf.string)
    return [y, *tf.gradients(y, [x]), a, b, joined]

"""Activation functions of tf.nn, with their gradients of first and second order."""

_NAMES = "relu relu6 elu selu leaky_relu softplus softsign sigmoid tanh crelu".split()
_TWICE = "relu relu6 elu selu leaky_relu softplus sigmoid tanh".split()


def _x(tf):
    return tf.constant([[-3.0, -0.5, 0.0], [0.25, 2.0, 7.0]], name="x")


def _plain(name):
    def snippet(tf):
        x = _x(tf)
        function = getattr(tf.nn, name)
        return [function(x), function(x, name="named"), function([1.0, -2.0])]

    return snippet


def _gradient(name):
    def snippet(tf):
        x = _x(tf)
        return tf.gradients(getattr(tf.nn, name)(x) * 3.0, x)

    return snippet


def _second_gradient(name):
    def snippet(tf):
        x = _x(tf)
        first = tf.gradients(tf.square(getattr(tf.nn, name)(x)), x)
        return tf.gradients(first, x)

    return snippet


for _name in _NAMES:
    globals()[_name] = _plain(_name)
    globals()["gradient_of_" + _name] = _gradient(_name)
for _name in _TWICE:
    globals()["second_gradient_of_" + _name] = _second_gradient(_name)


def slopes(tf):
    x = _x(tf)
    y = tf.nn.leaky_relu(x, alpha=0.1, name="slope")
    return [y, tf.nn.leaky_relu([-3, 4])] + tf.gradients(y, x)


def leaky_relu_of_doubles(tf):
    x = tf.constant([-1.0, 2.0], tf.float64)  # the slope is a float32
    return [tf.nn.leaky_relu(x), tf.nn.leaky_relu(x) - x * 0.2, *tf.gradients(tf.nn.leaky_relu(x, 0.3), x)]


def of_integers(tf):
    x = tf.constant([-3, 0, 9])
    return [tf.nn.relu(x), tf.nn.relu6(x)]


def l2_loss(tf):
    x = _x(tf)
    loss = tf.nn.l2_loss(x)
    return [loss, tf.nn.l2_loss([3.0, 4.0], name="named")] + tf.gradients(loss, x)

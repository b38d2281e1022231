"""Elementwise functions of one argument, with their gradients of first and second order."""

_SAMPLES = {
    "acosh": [1.5, 2.0, 30.0],
    "log": [0.25, 1.0, 7.0],
    "sqrt": [0.25, 1.0, 7.0],
    "rsqrt": [0.25, 1.0, 7.0],
    "log1p": [-0.5, 0.25, 7.0],
    "lgamma": [0.25, 1.5, 7.0],
    "digamma": [0.25, 1.5, 7.0],
    "asin": [-0.5, 0.25, 0.9],
    "acos": [-0.5, 0.25, 0.9],
    "atanh": [-0.5, 0.25, 0.9],
}
_DIFFERENTIABLE = (
    "abs acos acosh asin asinh atan atanh cos cosh digamma erf erfc exp expm1 lgamma log log1p log_sigmoid negative "
    "reciprocal rsqrt sigmoid sign sin sinh sqrt square tan tanh"
).split()
_TWICE = "acos cosh exp expm1 log reciprocal rsqrt sigmoid sin sqrt square tan tanh".split()
_NOT_DIFFERENTIABLE = "ceil floor is_finite is_inf is_nan rint round".split()


def _sample(tf, name):
    return tf.constant(_SAMPLES.get(name, [[-1.5, -0.25], [0.5, 3.0]]), name="x")


def _plain(name):
    def snippet(tf):
        x = _sample(tf, name)
        return [getattr(tf, name)(x), getattr(tf, name)(x, name="named"), getattr(tf, name)([0.5, 0.75])]

    return snippet


def _gradient(name):
    def snippet(tf):
        x = _sample(tf, name)
        return tf.gradients(getattr(tf, name)(x), x)

    return snippet


def _second_gradient(name):
    def snippet(tf):
        x = _sample(tf, name)
        first = tf.gradients(getattr(tf, name)(x), x)
        return tf.gradients(first, x)

    return snippet


for _name in _DIFFERENTIABLE + _NOT_DIFFERENTIABLE:
    globals()["function_" + _name] = _plain(_name)
for _name in _DIFFERENTIABLE:
    globals()["gradient_of_" + _name] = _gradient(_name)
for _name in _TWICE:
    globals()["second_gradient_of_" + _name] = _second_gradient(_name)


def logical_not(tf):
    return [tf.logical_not([True, False]), ~tf.constant([True, False])]


def of_integers(tf):
    x = tf.constant([[-3, 0], [4, 7]])
    return [tf.abs(x), tf.negative(x), tf.sign(x), tf.square(x), tf.round(x), -x, abs(x)]


def of_nothing(tf):
    x = tf.constant([], shape=[0, 3], dtype=tf.float32)
    return [tf.exp(x), tf.sin(x), tf.is_nan(x)]


def of_a_placeholder(tf):
    x = tf.placeholder_with_default([[0.5, 2.0]], [None, 2])
    y = tf.tanh(tf.square(x) + tf.log(x))
    return [y] + tf.gradients(y, x)


def in_tf_math(tf):
    x = tf.constant([0.0, 0.5, -2.0])
    return [tf.math.reciprocal_no_nan(x), tf.math.softplus(x), tf.math.softsign(x), tf.math.sin(x)]

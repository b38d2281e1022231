"""Special functions, with their gradients."""


def _pair(tf, first, second):
    return tf.constant(first, name="first"), tf.constant(second, name="second")


def zeta(tf):
    x, q = _pair(tf, [1.5, 2.0, 3.0, 11.0], [0.5, 1.0, 2.5, 30.0])
    y = tf.zeta(x, q, name="named")
    return [y, tf.math.zeta(3.0, [0.5, 2.0])] + tf.gradients(y, q)


def polygamma(tf):
    a, x = _pair(tf, [0.0, 1.0, 2.0, 5.0], [0.5, 1.0, 2.5, 30.0])
    y = tf.polygamma(a, x)
    return [y, tf.math.polygamma([[1.0], [2.0]], [1.5, 2.5], name="named")] + tf.gradients(y, x)


def igamma(tf):
    a, x = _pair(tf, [0.5, 1.0, 2.5, 10.0], [0.25, 2.0, 2.5, 7.0])
    y = tf.igamma(a, x)
    return [y, tf.math.igamma([[1.0], [2.0]], [1.5, 2.5], name="named")] + tf.gradients(y, [a, x])


def igammac(tf):
    a, x = _pair(tf, [0.5, 1.0, 2.5, 10.0], [0.25, 2.0, 2.5, 7.0])
    y = tf.igammac(a, x)
    return [y, tf.math.igammac([[1.0], [2.0]], 1.5)] + tf.gradients(y, [a, x])


def gradient_of_repeated_arguments(tf):
    a, x = _pair(tf, [[0.5], [3.0]], [0.25, 2.0, 2.5])
    return [
        gradient
        for y in (tf.igamma(a, x), tf.zeta(a + 1.0, x), tf.polygamma(tf.constant(2.0), x))
        for gradient in tf.gradients(y, x)
    ]


def betainc(tf):
    a, b = _pair(tf, [0.5, 1.0, 2.5], [0.25, 2.0, 3.5])
    x = tf.constant([0.25, 0.5, 0.75], name="x")
    y = tf.betainc(a, b, x)
    return [y, tf.math.betainc(2.0, 3.0, x, name="named")] + tf.gradients(y, x)


def lbeta(tf):
    x = tf.constant([[0.5, 1.5, 2.0], [3.0, 0.25, 1.0]], name="x")
    y = tf.lbeta(x)
    return [y, tf.math.lbeta([1.0, 2.0], name="named")] + tf.gradients(y, x)


def bessel(tf):
    x = tf.constant([-9.5, -0.5, 0.0, 1.5, 20.0], name="x")
    values = [tf.math.bessel_i0(x), tf.math.bessel_i1(x), tf.math.bessel_i0e(x), tf.math.bessel_i1e(x, name="named")]
    return values + [tf.gradients(y, x)[0] for y in values]

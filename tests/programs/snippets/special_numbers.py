"""NaN, infinities, zeros of both signs, and derivatives that are infinite."""

_NAN, _INF = float("nan"), float("inf")
_X = [1, _NAN, 2, _NAN, -0.0, 0.0, _NAN, _INF, -3]
_Y = [_NAN, 1, 3, _NAN, 0.0, -0.0, -_INF, _NAN, 1]
_TYPES = "float16 float32 float64".split()


def _pair(tf, name, repeat=1):
    return [tf.cast(tf.constant(values * repeat), name) for values in (_X, _Y)]


def minimum_and_maximum(tf):
    found = []
    for name in _TYPES:
        x, y = _pair(tf, name, 4)
        found += [tf.minimum(x, y), tf.maximum(x, y), tf.minimum(x, y[1]), tf.maximum(x[1], y)]
        found += tf.gradients(tf.maximum(x, y), [x, y]) + tf.gradients(tf.minimum(x, y), [x, y])
    return found


def clipping(tf):
    x, _ = _pair(tf, "float32")
    return [tf.clip_by_value(x, -2.0, 2.0), tf.clip_by_value(x, _NAN, 2.0), tf.clip_by_value(x, -2.0, _NAN)]


def extrema(tf):
    """NaN is passed over; of nothing else there is an infinity."""
    found = []
    for name in _TYPES:
        x = tf.cast(tf.constant([_X, _Y, [_NAN] * 9, [5.0] * 8 + [_NAN]]), name)
        long = tf.tile(x, [1, 5])
        for axis in (0, 1, None):
            found += [tf.reduce_min(x, axis), tf.reduce_max(x, axis), tf.reduce_max(long, axis)]
    return found


def signs(tf):
    return [tf.sign(_pair(tf, name, 3)[0]) for name in _TYPES]


def activations(tf):
    found = []
    for name in _TYPES:
        x, _ = _pair(tf, name)
        for y in (tf.nn.relu(x), tf.nn.relu6(x), tf.nn.leaky_relu(x)):
            found += [y, *tf.gradients(y, x)]
    return found


def slopes_of_leaky_relu(tf):
    x = tf.constant([-0.9, 0.7, -0.0, 0.0, _NAN])
    found = []
    for alpha in (10.0, 1.0, 0.0, -0.5, _NAN):
        y = tf.nn.leaky_relu(x, alpha=alpha)
        found += [y, *tf.gradients(y, x)]
    return found


def gradients_where_derivatives_are_infinite(tf):
    """A gradient of 0 stays 0."""
    found = []
    for name in ("float16", "float32", "float64", "complex64", "complex128"):
        x = tf.cast(tf.constant([0.0, 4.0, 0.25, 0.0]), name)
        dy = tf.cast(tf.constant([0.0, 0.0, 1.0, 0.0]), name)
        for function in (tf.sqrt, tf.rsqrt, tf.reciprocal):
            found += tf.gradients(function(x), x, dy)
    x = tf.constant([0.0, -0.0, _INF, _NAN])
    for function in (tf.sqrt, tf.rsqrt, tf.reciprocal):
        found += tf.gradients(function(x), x) + tf.gradients(function(x), x, tf.zeros([4]))
    return found

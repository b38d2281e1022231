"""Reductions, running sums and arg extrema, with their gradients."""

_NAMES = "sum mean prod max min logsumexp".split()


def _x(tf):
    return tf.constant([[[1.0, 2.0], [3.0, -4.0]], [[0.5, 6.0], [6.0, 2.0]]], name="x")


def _reduced(name):
    def snippet(tf):
        x = _x(tf)
        function = getattr(tf, "reduce_" + name)
        return [
            function(x), function(x, 0), function(x, axis=[0, 2]), function(x, -1, keepdims=True),
            function(x, reduction_indices=1, name="named"), function(x, keep_dims=True), function([1.0, 2.0]),
            function(x, []), function(x, tf.constant([1, 0])),
        ]  # fmt: skip

    return snippet


def _gradient(name):
    def snippet(tf):
        x = _x(tf)
        function = getattr(tf, "reduce_" + name)
        return (
            tf.gradients(function(x), x)
            + tf.gradients(function(x, [0, 2]), x)
            + tf.gradients(function(x, 1, keepdims=True), x)
        )

    return snippet


def _gradient_of_unknown_shapes(name):
    def snippet(tf):
        x = tf.placeholder_with_default([[1.0, 2.0], [3.0, -4.0]], [None, 2])
        y = tf.placeholder_with_default([[1.0, 2.0], [3.0, -4.0]], None)
        function = getattr(tf, "reduce_" + name)
        return (
            [function(y)]
            + tf.gradients(function(x), x)
            + tf.gradients(function(x, 1), x)
            + tf.gradients(function(y), y)
        )

    return snippet


for _name in _NAMES:
    globals()["reduce_" + _name] = _reduced(_name)
    globals()["gradient_of_" + _name] = _gradient(_name)
    globals()["gradient_of_%s_of_unknown_shapes" % _name] = _gradient_of_unknown_shapes(_name)


def second_gradient_of_mean(tf):
    x = _x(tf)
    (first,) = tf.gradients(tf.reduce_mean(tf.square(x), [0, 1]), x)
    return tf.gradients(first, x)


def logic(tf):
    x = tf.constant([[True, False], [True, True]])
    return [tf.reduce_all(x), tf.reduce_any(x, 0), tf.reduce_all(x, 1, keepdims=True), tf.reduce_any(x, [])]


def of_integers(tf):
    x = tf.constant([[1, -2], [-4, 7]])
    return [tf.reduce_sum(x), tf.reduce_mean(x, 0), tf.reduce_prod(x, 1), tf.reduce_max(x), tf.reduce_min(x, 0)]


def counts(tf):
    x = tf.constant([[1.0, 0.0], [0.0, 7.0]])
    return [
        tf.count_nonzero(x), tf.count_nonzero(x, 0), tf.count_nonzero(x, axis=1, keepdims=True, dtype=tf.int32),
        tf.count_nonzero(["a", ""]), tf.count_nonzero([True, False], name="named"),
    ]  # fmt: skip


def in_tf_math(tf):
    x = tf.constant([[1.0, 3.0], [4.0, 9.0]])
    m = tf.math
    return [
        m.reduce_euclidean_norm(x), m.reduce_euclidean_norm(x, 1), m.reduce_variance(x), m.reduce_variance(x, 0),
        m.reduce_std(x, 1, keepdims=True), m.reduce_std(x, name="named"), m.reduce_sum(x), m.argmax(x),
    ]  # fmt: skip


def gradient_of_std(tf):
    x = tf.constant([[1.0, 3.0], [4.0, 9.0]])
    return tf.gradients(tf.math.reduce_std(x, 1), x)


def arg_extrema(tf):
    x = tf.constant([[1.0, 5.0, 5.0], [4.0, 0.0, -2.0]])
    return [
        tf.argmax(x), tf.argmax(x, 1), tf.argmax(x, axis=-1, output_type=tf.int32), tf.argmin(x, dimension=1),
        tf.argmin(x, name="named"), tf.arg_max(x, 0), tf.arg_min(x, 1), tf.argmax([3, 1, 2]),
        tf.argmax(tf.placeholder_with_default([[1.0, 2.0]], None), 1),
    ]  # fmt: skip


def running(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 0.5, -2.0]])
    return [
        tf.cumsum(x), tf.cumsum(x, 1), tf.cumsum(x, axis=-1, exclusive=True), tf.cumsum(x, 1, reverse=True),
        tf.cumprod(x, 1), tf.cumprod(x, 1, exclusive=True, reverse=True, name="named"), tf.cumsum([1, 2, 3]),
    ]  # fmt: skip


def gradient_of_running(tf):
    x = tf.constant([[1.0, 2.0, 3.0], [4.0, 0.5, -2.0]])
    return (
        tf.gradients(tf.cumsum(x, 1) * 2.0, x)
        + tf.gradients(tf.cumsum(x, 0, exclusive=True, reverse=True), x)
        + tf.gradients(tf.cumprod(x, 1, exclusive=True), x)
    )


def of_nothing(tf):
    x = tf.constant([], shape=[0, 3])
    return [tf.reduce_sum(x, 0), tf.reduce_max(x, 0), tf.reduce_prod(x), tf.reduce_sum(x, 1), tf.argmax(x, 1)]

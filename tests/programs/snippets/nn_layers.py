"""Biases, dense layers, normalization, dropout and the largest elements."""


def _x(tf):
    return tf.constant([[-3.0, -0.5, 0.0], [0.25, 2.0, 7.0]], name="x")


def _images(tf):
    return tf.reshape(tf.constant([float(i % 7) - 2.0 * (i % 3) for i in range(48)], name="images"), [2, 3, 4, 2])


def bias_add(tf):
    x, b = _x(tf), tf.constant([1.0, 2.0, 3.0], name="b")
    y = tf.nn.bias_add(x, b)
    return [y, tf.nn.bias_add(x, b, name="named"), tf.nn.bias_add(x, [1, 2, 3], data_format="NWC")] + tf.gradients(
        y * y, [x, b]
    )


def bias_add_to_images(tf):
    x, b = _images(tf), tf.constant([1.0, 2.0], name="b")
    y = tf.nn.bias_add(x, b, data_format="NHWC")
    return [y] + tf.gradients(y * y, [x, b])


def second_gradient_of_bias_add(tf):
    x, b = _images(tf), tf.constant([1.0, 2.0], name="b")
    y = tf.nn.bias_add(x, b)
    first = tf.gradients(y * y, b)
    return tf.gradients(first[0] * first[0], x)


def dense_layers(tf):
    x, b = _x(tf), tf.constant([1.0, -2.0], name="b")
    w = tf.constant([[0.5, 1.0], [2.0, -1.0], [0.1, 0.2]], name="w")
    y, z = tf.nn.xw_plus_b(x, w, b), tf.nn.relu_layer(x, w, b, name="named")
    return [y, z, tf.nn.relu_layer(x, w, b)] + tf.gradients([y, z], [x, w, b])


def top_k(tf):
    x = tf.constant([[1.0, 5.0, 5.0, -2.0], [0.0, 3.0, 2.0, 9.0]], name="x")
    values, indices = tf.nn.top_k(x, 2)
    one, where = tf.math.top_k(x, name="named")
    return [values, indices, one, where]


def gradient_of_top_k(tf):
    x = tf.constant([[1.0, 5.0, 5.0, -2.0], [0.0, 3.0, 2.0, 9.0]], name="x")
    values, _ = tf.nn.top_k(x, k=tf.constant(3), sorted=False, name="named")
    return [tf.reduce_sum(values)] + tf.gradients(values * values, x)


def in_top_k(tf):
    x = tf.constant([[1.0, 5.0, 5.0, -2.0], [0.0, 3.0, 2.0, 9.0], [0.0, 1.0, 2.0, float("inf")]])
    return [tf.nn.in_top_k(x, [2, 0, 2], 1), tf.nn.in_top_k(x, tf.constant([1, 1, 9], tf.int64), k=2, name="named")]


def moments(tf):
    x = _images(tf)
    mean, variance = tf.nn.moments(x, [0, 1, 2])
    kept = tf.nn.moments(x, [1], keep_dims=True, name="named")
    return [mean, variance] + list(kept)


def moments_of_halves(tf):
    mean, variance = tf.nn.moments(tf.cast(_x(tf), tf.float16), [0])
    return [tf.cast(mean, tf.float32), tf.cast(variance, tf.float32)]


def gradient_of_moments(tf):
    x = _x(tf)
    mean, variance = tf.nn.moments(x, [0])
    return tf.gradients([mean * mean, variance], x)


def weighted_moments(tf):
    x = _x(tf)
    first = tf.nn.weighted_moments(x, [0], [[1.0], [3.0]])
    other = tf.nn.weighted_moments(x, [1], tf.constant([1, 2, 3]), name="named", keep_dims=True)
    return list(first) + list(other)


def sufficient_statistics(tf):
    x = _x(tf)
    counts, total, squares, _ = tf.nn.sufficient_statistics(x, [0])
    mean, variance = tf.nn.normalize_moments(counts, total, squares, None)
    shifted = tf.nn.sufficient_statistics(x, [0, 1], shift=1.5, keep_dims=True, name="named")
    return [counts, total, squares, mean, variance] + list(tf.nn.normalize_moments(*shifted, name="other"))


def batch_normalization(tf):
    x = _x(tf)
    mean, variance = tf.constant([1.0, 0.5, -1.0]), tf.constant([1.0, 2.0, 0.1])
    offset, scale = tf.constant([0.1, 0.2, 0.3]), tf.constant([2.0, 1.0, 0.5])
    y = tf.nn.batch_normalization(x, mean, variance, offset, scale, 1e-3)
    z = tf.nn.batch_normalization(x, mean, variance, None, None, 1e-3, name="named")
    old = tf.nn.batch_norm_with_global_normalization(
        _images(tf), *[tf.constant([i, 1.0]) for i in (0.5, 0.25, 0.125, 1.5)], 0.01, True
    )
    return [y, z, old] + tf.gradients(y * y, [x, mean, variance, offset, scale])


def dropout(tf):
    tf.set_random_seed(7)
    x = _images(tf)
    y = tf.nn.dropout(x, rate=0.25)
    kept = tf.nn.dropout(x, 0.8, name="named")
    rows = tf.nn.dropout(x, keep_prob=tf.constant(0.5), noise_shape=[None, 1, 1, None], seed=3)
    return [y, kept, rows, tf.nn.dropout(x, rate=0.0)] + tf.gradients(y * y, x)


def dropout_of_unknown_shape(tf):
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], None)
    rate = tf.placeholder_with_default(0.5, [])
    return [tf.nn.dropout(x, rate=rate, seed=1), tf.nn.dropout(x, noise_shape=tf.constant([2, 1]), rate=rate, seed=2)]


def sparse_to_dense(tf):
    values = tf.constant([1.0, 2.0], name="values")
    y = tf.sparse_to_dense([[0, 1], [1, 2]], [2, 3], values, -1.0, name="named")
    places = tf.constant([3, 1], tf.int64)
    unordered = tf.sparse_to_dense(places, tf.constant([5], tf.int64), 7, validate_indices=False)
    return [y, unordered, tf.sparse_to_dense(2, [4], True, False)] + tf.gradients(y * y, values)

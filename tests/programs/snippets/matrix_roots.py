"""Functions of matrices, running logsumexp, next numbers, patches of volumes, sparse tensors as strings."""

import numpy as np


def _numbers(*shape):
    return np.round(np.random.RandomState(7).normal(size=shape) * 8) / 8  # whose products are exact


def _given(tf, values):
    return tf.placeholder_with_default(values, values.shape)


def _positive(n):
    x = _numbers(3, n, n)
    return np.matmul(x, np.transpose(x, (0, 2, 1))) + np.eye(n)


def square_roots(tf):
    complex_numbers = _numbers(2, 5, 5) + 1j * _numbers(2, 5, 5)[::-1]
    turn = np.array([[0.0, -1.0], [1.0, 0.0]])
    return [
        tf.linalg.sqrtm(_positive(4)), tf.linalg.sqrtm(_positive(4).astype(np.float32), name="named"),
        tf.matrix_square_root(complex_numbers), tf.linalg.sqrtm(turn), tf.linalg.sqrtm(np.zeros([0, 3, 3])),
        tf.linalg.sqrtm(np.triu(_positive(3))), tf.linalg.sqrtm([[4.0]]),
    ]  # fmt: skip


def gradient_of_square_root(tf):
    x = tf.constant(_positive(3))
    return tf.gradients(tf.linalg.sqrtm(x), x)


def logarithms(tf):
    complex_numbers = _numbers(2, 5, 5) + 1j * _numbers(2, 5, 5)[::-1]
    return [
        tf.linalg.logm(complex_numbers), tf.linalg.logm(_positive(6).astype(np.complex128), name="named"),
        tf.linalg.logm(_positive(4).astype(np.complex64)), tf.linalg.logm(np.eye(3, dtype=np.complex128) * 1e-9),
        tf.linalg.logm(tf.constant([[1e-30 + 1j, 1e9], [0, 2.0]], tf.complex128)),
    ]  # fmt: skip


def running_logsumexp(tf):
    x = tf.constant(_numbers(3, 4, 2).astype(np.float32) * 9)
    wide = tf.constant([-np.inf, 1000.0, -1000.0, 0.0, 999.5, np.inf, 1.0])
    function = tf.math.cumulative_logsumexp
    results = [
        function(x),
        function(wide),
        function(x, 1, exclusive=True),
        function(x, -1, reverse=True, name="named"),
    ]
    results.append(function(tf.cast(x, tf.float64), axis=tf.constant(1), exclusive=True, reverse=True))
    return results + tf.gradients(function(x, 1, exclusive=True) * x, x) + tf.gradients(results[3], x)


def next_numbers(tf):
    x = tf.constant([[0.0, 1.0, -1.0], [np.inf, 1e-45, -3e38]])
    y = tf.constant([-1.0, 2.0, np.inf])
    result = tf.math.nextafter(x, y)
    doubles = tf.math.nextafter(tf.cast(x, tf.float64), 0.0, name="named")
    return [result, doubles] + tf.gradients(result, [x, y])


def patches_of_volumes(tf):
    x = tf.constant(_numbers(2, 4, 5, 3, 2).astype(np.float32))
    same = tf.extract_volume_patches(x, [1, 2, 3, 2, 1], [1, 2, 2, 1, 1], "SAME")
    valid = tf.extract_volume_patches(x, [1, 2, 2, 2, 1], [1, 1, 2, 1, 1], "VALID", name="named")
    small = tf.extract_volume_patches(tf.cast(x, tf.int32), [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], "VALID")
    unknown = tf.extract_volume_patches(tf.placeholder(tf.float32), [1, 1, 1, 1, 1], [1, 1, 1, 1, 1], "VALID")
    assert unknown.shape.ndims in (4, 5)
    return [same, valid, small] + tf.gradients(same, x)


def sparse_strings(tf):
    x = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [1.0, 2.0, 3.0], [3, 5])
    words = tf.SparseTensor([[0, 1], [2, 3]], ["a", "bb"], [3, 5])
    one = tf.serialize_sparse(x, name="one")
    many, of_words = tf.io.serialize_many_sparse(x, name="many"), tf.serialize_many_sparse(words)
    back = tf.deserialize_many_sparse(many, tf.float32, rank=2, name="back")
    back_words = tf.io.deserialize_many_sparse(of_words, tf.string)
    return [one, many, of_words, back.indices, back.values, back.dense_shape, back_words.values, back_words.indices]


def edges(tf):
    image = tf.constant(_numbers(2, 5, 4, 3).astype(np.float32))
    return [tf.image.sobel_edges(image)] + tf.gradients(tf.image.sobel_edges(image), image)


def similarities(tf):
    a, b = np.random.RandomState(3).rand(2, 2, 20, 23, 3).astype(np.float32)
    a, b = _given(tf, a), _given(tf, a * 0.8 + b * 0.2)
    pixels = _given(tf, np.random.RandomState(4).randint(0, 255, (2, 16, 16, 1)).astype(np.uint8))
    first = tf.image.ssim(a, b, 1.0)
    return [first, tf.image.ssim(pixels, pixels[::-1], 255, filter_size=5, k1=0.02)] + tf.gradients(first, b)


def similarities_at_scales(tf):
    a, b = np.random.RandomState(3).rand(2, 2, 45, 50, 3).astype(np.float32)
    a, b = _given(tf, a), _given(tf, a * 0.8 + b * 0.2)
    return [tf.image.ssim_multiscale(a, b, 1.0, power_factors=(0.5, 0.3, 0.2)),
            tf.image.ssim_multiscale(a, a, 1.0, filter_size=2)]  # fmt: skip

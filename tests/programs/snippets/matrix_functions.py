"""Exponentials of matrices, matrices of three diagonals, numbers in few bits."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), shape)


def _matrix(tf, *shape, **options):
    values = np.random.RandomState(len(shape)).rand(*shape)
    return tf.constant(values.astype(options.get("dtype", np.float32)))


def exponentials(tf):
    batch = _matrix(tf, 4, 3, 3)
    scaled = batch * tf.constant([[[0.1]], [[0.5]], [[1.0]], [[5.0]]])
    doubles = tf.cast(scaled, tf.float64)
    return [
        tf.linalg.expm(_matrix(tf, 3, 3)), tf.linalg.expm(scaled, name="named"), tf.linalg.expm(doubles * 3.0),
        tf.linalg.expm(_unknown(tf, batch, [None, 3, 3])), tf.linalg.expm(np.zeros([2, 0, 0], np.float32)),
    ]  # fmt: skip


def gradient_of_exponential(tf):
    x = _matrix(tf, 3, 3)
    return tf.gradients(tf.linalg.expm(x), x)


def _diagonals(tf, *batch):
    values = np.random.RandomState(5).rand(*(batch + (3, 4))) + [[0], [3], [0]]
    return tf.constant(values.astype(np.float32))


def three_diagonals(tf):
    d, rhs = _diagonals(tf), _matrix(tf, 4, 2)
    batch, batch_rhs = _diagonals(tf, 2), _matrix(tf, 2, 4, 3)
    sequence = [d[0], d[1], d[2]]
    matrix = tf.linalg.diag(d[1]) + tf.pad(tf.linalg.diag(d[0][:-1]), [[0, 1], [1, 0]])
    matrix = matrix + tf.pad(tf.linalg.diag(d[2][1:]), [[1, 0], [0, 1]])
    solve, multiply = tf.linalg.tridiagonal_solve, tf.linalg.tridiagonal_matmul
    return [
        solve(d, rhs), solve(d, rhs[:, 0]), solve(batch, batch_rhs, name="named"), solve(d, rhs,
        partial_pivoting=False),
        solve(sequence, rhs, diagonals_format="sequence"), solve(matrix, rhs, "matrix"),
        solve([d[0][:-1], d[1], d[2][1:]], rhs, "sequence"),
        solve(d, tf.transpose(rhs), transpose_rhs=True), multiply(d, rhs), multiply(batch, batch_rhs, name="product"),
        multiply(sequence, rhs, diagonals_format="sequence"), multiply(matrix, rhs, "matrix"),
    ]  # fmt: skip


def gradients_of_three_diagonals(tf):
    d, rhs = _diagonals(tf, 2), _matrix(tf, 2, 4, 3)
    unknown, unknown_rhs = _unknown(tf, d, [None, 3, 4]), _unknown(tf, rhs, [None, 4, 3])
    results = tf.gradients(tf.linalg.tridiagonal_solve(d, rhs), [d, rhs])
    results += tf.gradients(tf.linalg.tridiagonal_solve(unknown, unknown_rhs), [unknown, unknown_rhs])
    return results + tf.gradients(tf.linalg.tridiagonal_matmul(d, rhs), [d, rhs])


def few_bits(tf):
    x = tf.constant(np.linspace(-8, 8, 24, dtype=np.float32).reshape(2, 3, 4))
    low, high = tf.constant([-1.0, -2.0, 0.0, -9.0]), tf.constant([1.0, 3.0, 0.0, 9.5])
    results = [
        tf.fake_quant_with_min_max_args(x), tf.fake_quant_with_min_max_args(x, -1.03, 3.1, 4, True, "named"),
        tf.fake_quant_with_min_max_vars(x, -3.2, 5.0), tf.fake_quant_with_min_max_vars(x, 0.0, 0.0, num_bits=2),
        tf.quantization.fake_quant_with_min_max_vars(x, 2.0, 4.0, narrow_range=True),
        tf.fake_quant_with_min_max_vars_per_channel(x, low, high, num_bits=6),
    ]  # fmt: skip
    for y in list(results):
        results += tf.gradients(y * y, x)
    a, b = tf.constant(-3.2), tf.constant(5.0)
    results += tf.gradients(tf.fake_quant_with_min_max_vars(x, a, b), [a, b])
    return results + tf.gradients(tf.fake_quant_with_min_max_vars_per_channel(x, low, high), [low, high])

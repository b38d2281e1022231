"""Random numbers with seeds: distributions, their gradients, crops, stateless ops and initializers."""


def distributions(tf):
    tf.set_random_seed(5)
    alpha = tf.constant([[0.3], [1.0], [4.5]])
    beta = tf.constant([0.5, 2.0])
    return [
        tf.random_gamma([2], alpha, beta),
        tf.random_gamma(tf.constant([1, 2]), 1.0, dtype=tf.float64),
        tf.random_gamma([3], [0.5, 2.0], dtype=tf.float16),
        tf.random_poisson([0.5, 5.0, 50.0], [4]),
        tf.random_poisson(tf.constant([3, 30]), [4], dtype=tf.int32),
        tf.random.poisson(tf.constant(7.5), [2, 2], dtype=tf.int64),
        tf.random_shuffle(tf.constant(["a", "b", "c", "d"])),
        tf.random.shuffle([[1, 2], [3, 4], [5, 6]]),
        tf.multinomial(tf.constant([[0.0, 1.0], [3.0, -2.0]]), 6),
        tf.random.categorical([[0.5, 0.5, 0.1]], 4, dtype=tf.int32),
        tf.random_crop(tf.reshape(tf.range(24), [4, 3, 2]), [2, 2, 1]),
    ]


def unknown_shapes(tf):
    tf.set_random_seed(6)
    alpha = tf.placeholder_with_default([1.5, 0.5], None)
    beta = tf.placeholder_with_default([2.0], None)
    shape = tf.placeholder_with_default([3], None)
    return [
        tf.random_gamma(shape, alpha, beta),
        tf.random_poisson(alpha, shape),
        tf.random_crop(tf.placeholder_with_default([[1, 2, 3], [4, 5, 6]], None), [1, 2]),
        tf.random.stateless_normal(shape, [3, 4]),
        tf.multinomial(tf.placeholder_with_default([[0.5, 1.5]], None), tf.placeholder_with_default(3, [])),
    ]


def gradients_of_gamma(tf):
    tf.set_random_seed(7)
    alpha = tf.constant([[0.3], [1.5], [4.5]])
    beta = tf.constant([0.5, 2.0])
    return tf.gradients(tf.random_gamma([4], alpha, beta), [alpha, beta])


def gradient_of_gamma_of_unknown_shape(tf):
    tf.set_random_seed(8)
    alpha = tf.placeholder_with_default([1.5, 0.5], None)
    return tf.gradients(tf.random_gamma(tf.placeholder_with_default([2, 3], None), alpha), alpha)


def stateless(tf):
    seed = tf.constant([7, -3], tf.int64)
    return [
        tf.random.stateless_uniform([3], [1, 2]),
        tf.random.stateless_uniform([3], seed, -1.0, 1.0, tf.float64),
        tf.random.stateless_uniform([3], seed, minval=-5, maxval=5, dtype=tf.int64),
        tf.random.stateless_normal([2, 2], tf.constant([1, 2]), mean=3.0, stddev=[0.5, 2.0]),
        tf.random.stateless_truncated_normal([5], seed, dtype=tf.float16),
        tf.random.stateless_categorical([[0.0, 1.0, 2.0]], 5, seed),
        tf.random.stateless_multinomial([[0.0, 1.0, 2.0]], 5, seed, output_dtype=tf.int32),
    ]


def identity_and_orthogonal(tf):
    tf.set_random_seed(9)
    i = tf.initializers
    return [
        tf.get_variable("square", [3, 3], initializer=i.identity()),
        tf.get_variable("wide", [2, 4], initializer=i.identity(gain=0.5)),
        tf.convert_to_tensor(
            tf.get_variable("parts", [5, 2], initializer=i.identity(), partitioner=tf.fixed_size_partitioner(2))
        ),
        tf.get_variable("tall_orthogonal", [4, 3], initializer=tf.orthogonal_initializer()),
        tf.get_variable("wide_orthogonal", [2, 5], initializer=i.orthogonal(gain=2.0, seed=3)),
        tf.get_variable("filter", [2, 2, 3], initializer=i.orthogonal(), dtype=tf.float64),
    ]


def factors(tf):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], tf.float64)
    q, r = tf.linalg.qr(a)
    full_q, full_r = tf.qr(a, full_matrices=True, name="full")
    solved = tf.matrix_triangular_solve(r, tf.constant([[1.0], [2.0]], tf.float64), lower=False)
    adjoint = tf.linalg.triangular_solve(r, tf.constant([[1.0], [2.0]], tf.float64), lower=False, adjoint=True)
    return [q, r, full_r, tf.abs(full_q), solved, adjoint]


def gradients_of_factors(tf):
    a = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]], tf.float64)
    q, r = tf.linalg.qr(a)
    solved = tf.matrix_triangular_solve(r, tf.constant([[1.0], [2.0]], tf.float64), lower=False)
    lower = tf.matrix_triangular_solve(tf.matrix_transpose(r), tf.constant([[1.0], [2.0]], tf.float64), adjoint=True)
    return [*tf.gradients(q, a), *tf.gradients(r, a), *tf.gradients(solved, a), *tf.gradients(lower, a)]

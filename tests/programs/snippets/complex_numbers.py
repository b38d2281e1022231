"""Complex numbers: their parts, arithmetic, functions, matrices, and gradients with conjugates."""

import numpy as np

DTYPES = (np.complex64, np.complex128)


def _numbers(dtype, *shape, **options):
    random = np.random.RandomState(options.get("seed", 0))
    low, high = options.get("between", (-2, 2))
    values = random.uniform(low, high, shape) + 1j * random.uniform(low, high, shape)
    return values.astype(dtype)


def _constant(tf, dtype, *shape, **options):
    return tf.constant(_numbers(dtype, *shape, **options))


def _unknown(tf, values):
    return tf.placeholder_with_default(tf.convert_to_tensor(values), None)


def parts(tf):
    results = []
    for dtype in DTYPES:
        z = _constant(tf, dtype, 2, 3)
        results += [tf.real(z), tf.imag(z), tf.math.angle(z), tf.conj(z), tf.abs(z), tf.abs(z, name="size")]
        results += [tf.complex(tf.real(z), tf.imag(z)[0], name="whole"), tf.math.real(z, "re"), tf.math.conj(z, "c")]
    x = tf.constant([1.0, -2.0])
    return results + [tf.real(x), tf.imag(x), tf.math.angle(x), tf.conj(x), tf.conj([1, 2]), tf.real([1j, 2])]


def arithmetic(tf):
    results = []
    for dtype in DTYPES:
        x, y = _constant(tf, dtype, 3, 4), _constant(tf, dtype, 4, seed=1)
        results += [x + y, x - y, x * y, x / y, -x, x**2, x + 2, 1j * x, tf.square(x), tf.squared_difference(x, y)]
        results += [tf.div_no_nan(x, y * 0), tf.math.multiply_no_nan(x, y * 0), tf.math.xdivy(x, y), tf.pow(x, y)]
        results += [tf.math.xlogy(x, y), tf.equal(x, x), tf.not_equal(x, y), tf.add_n([x, x, x]), tf.reciprocal(y)]
        results += [tf.where(tf.equal(x, x), x, -x), tf.div(x, y), tf.realdiv(x, y), tf.sign(x)]
    return results


def functions(tf):
    results = []
    for dtype in DTYPES:
        x = _constant(tf, dtype, 9, between=(-1.3, 1.3))
        for name in "exp expm1 log log1p sqrt rsqrt sigmoid tanh sin cos tan sinh cosh asinh acosh atanh".split():
            results.append(getattr(tf, name)(x))
    return results


def casts(tf):
    z = tf.constant([1 + 2j, -3.5 + 0j, 1j])
    results = [tf.cast(z, dtype) for dtype in (tf.complex128, tf.float16, tf.float32, tf.float64, tf.int32, tf.int64)]
    results += [tf.cast(z, tf.bool), tf.to_complex64([1.0, 2.0]), tf.to_complex128(z)]
    for values in ([1, 2], [True, False], np.float64([0.1]), np.uint8([3])):
        results += [tf.cast(tf.constant(values), tf.complex64), tf.cast(tf.constant(values), tf.complex128)]
    return results


def reductions(tf):
    results = []
    for dtype in DTYPES:
        x = _constant(tf, dtype, 2, 3, 4)
        for axis in (None, 0, 1, [0, 2], [-1]):
            results += [tf.reduce_sum(x, axis), tf.reduce_mean(x, axis), tf.reduce_prod(x, axis)]
            results += [tf.math.reduce_euclidean_norm(x, axis), tf.norm(x, axis=axis if axis != [-1] else -1)]
        for options in ({}, {"exclusive": True}, {"reverse": True}):
            results += [tf.cumsum(x, axis=1, **options), tf.cumprod(x, axis=-1, **options)]
        results += [tf.count_nonzero(x), tf.reduce_sum(x, keepdims=True)]
    return results


def moved(tf):
    results = []
    for dtype in DTYPES:
        x, row = _constant(tf, dtype, 3, 4), _constant(tf, dtype, 4)
        results += [tf.transpose(x), tf.transpose(x, conjugate=True), tf.concat([x, x], 1), tf.gather(x, [2, 0])]
        results += [tf.gather_nd(x, [[0, 1]]), x[::2, 1:], tf.pad(x, [[1, 1], [0, 2]]), tf.tile(row, [2])]
        results += [tf.pad(x, [[1, 0], [0, 1]], constant_values=tf.constant(1j, dtype)), tf.stack([row, row], 1)]
        results += [tf.pad(x, [[1, 1], [2, 1]], "REFLECT"), tf.reverse(x, [0]), tf.one_hot([0, 2], 3, dtype=dtype)]
        results += [tf.fill([2], tf.constant(2j, dtype)), tf.zeros_like(x), tf.ones_like(x), tf.eye(2, dtype=dtype)]
        results += [tf.linalg.diag(row), tf.linalg.diag_part(x), tf.matrix_band_part(x, 1, 0), tf.roll(row, 1, 0)]
        results += [tf.scatter_nd([[1], [1], [0]], x, [3, 4]), tf.where(x * [0, 1, 0, 1]), tf.split(x, 2, 1)[1]]
        results += [tf.tensor_scatter_add(x, [[0], [0]], x[:2]), tf.tensor_scatter_update(x, [[0]], x[1:2])]
        results += [tf.dynamic_stitch([[0, 2], [1]], [x[:2], x[2:]]), tf.broadcast_to(row, [2, 4]), tf.trace(x)]
        results += list(tf.dynamic_partition(x, [0, 1, 0], 2)) + tf.unstack(row)
        results += [tf.linalg.adjoint(x), tf.matrix_transpose(x, conjugate=True), tf.transpose(x, [1, 0], "t", True)]
        results += [tf.strided_slice(x, [0, 0], [2, 4], [1, 2]), tf.sparse_to_dense([1], [3], row[0], row[1])]
    return results


def segments(tf):
    results = []
    for dtype in DTYPES:
        x = _constant(tf, dtype, 4, 3)
        ids = [0, 0, 2, 2]
        results += [tf.segment_sum(x, ids), tf.segment_mean(x, ids), tf.segment_prod(x, ids)]
        results += [tf.unsorted_segment_sum(x, [1, 0, 1, -1], 3), tf.unsorted_segment_prod(x, [1, 0, 1, 2], 3)]
        results += [tf.nn.bias_add(x, x[0]), tf.bincount([0, 2, 2], weights=tf.real(x[:3, 0]))]
    return results


def products(tf):
    results = []
    for dtype in DTYPES:
        x, y = _constant(tf, dtype, 3, 4), _constant(tf, dtype, 4, 2, seed=1)
        results += [tf.matmul(x, y), tf.matmul(x, x, adjoint_b=True), tf.matmul(x, x, transpose_a=True)]
        results += [tf.matmul(y, x, adjoint_a=True, adjoint_b=True), tf.tensordot(x, y, 1)]
        results += [tf.einsum("ij,jk->ik", x, y)]
        batch, other = _constant(tf, dtype, 2, 3, 4), _constant(tf, dtype, 1, 4, 5, seed=1)
        results += [tf.matmul(batch, other), tf.matmul(batch, batch, adjoint_b=True)]
        results += [tf.matmul(batch, batch, transpose_a=True), tf.linalg.matvec(x, y[:, 0])]
    return results


def gradients_of_arithmetic(tf):
    results = []
    for dtype in DTYPES:
        x, y, dz = _constant(tf, dtype, 3), _constant(tf, dtype, 3, seed=1), _constant(tf, dtype, 3, seed=2)
        row = _constant(tf, dtype, 1, seed=3)
        for z in (x * y, x / y, x - y, x**y, tf.square(x) + y, x * row, tf.squared_difference(x, y), tf.conj(x) * y):
            results += tf.gradients(z, [x, y], dz)
        results += tf.gradients([x * row, row / x], [x, row], [dz, dz])
        results += tf.gradients([tf.abs(x), tf.real(x), tf.imag(x), tf.math.angle(x)], x)
        re, im = tf.real(x), tf.imag(y)
        results += tf.gradients(tf.complex(re, im), [re, im, x, y], dz)
    return [g for g in results if g is not None]


def gradients_of_functions(tf):
    results = []
    for dtype in DTYPES:
        x, dy = _constant(tf, dtype, 3, between=(0.3, 0.9)), _constant(tf, dtype, 3, seed=2)
        for name in "exp expm1 log log1p sqrt rsqrt sigmoid tanh sin cos tan sinh cosh asinh acosh atanh".split():
            results += tf.gradients(getattr(tf, name)(x), x, dy)
        results += tf.gradients(tf.reciprocal(x), x, dy)
    return results


def second_gradients(tf):
    results = []
    x, dy = _constant(tf, np.complex64, 3, between=(0.3, 0.9)), _constant(tf, np.complex64, 3, seed=2)
    for name in "sqrt rsqrt sigmoid tanh reciprocal exp".split():
        first = tf.gradients(getattr(tf, name)(x), x, dy)
        results += tf.gradients(first, [x, dy], dy)
    return results


def gradients_of_products(tf):
    results = []
    for dtype in DTYPES:
        x, y = _constant(tf, dtype, 3, 4), _constant(tf, dtype, 4, 2, seed=1)
        for z, wrt in (
            (tf.matmul(x, y), [x, y]),
            (tf.matmul(x, x, adjoint_b=True), [x]),
            (tf.matmul(y, x, transpose_a=True, transpose_b=True), [x, y]),
        ):
            results += tf.gradients(z, wrt, tf.ones_like(z) * tf.constant(1 + 2j, dtype))
        batch, other = _constant(tf, dtype, 2, 3, 4), _constant(tf, dtype, 1, 4, 5, seed=1)
        z = tf.matmul(batch, other)
        results += tf.gradients(z, [batch, other], tf.ones_like(z) * tf.constant(1 - 1j, dtype))
        t = tf.transpose(x, conjugate=True)
        results += tf.gradients(t, x, t)
        results += tf.gradients(tf.reduce_prod(x, 1), x, x[:, 0])
        results += tf.gradients([tf.cumsum(x), tf.reduce_mean(x, 0)], x, [x, x[0]])
        results += tf.gradients(tf.cumprod(x), x, x)
    return results


def _positive(tf, dtype, *shape):
    x = _numbers(dtype, *shape)
    product = np.matmul(x, np.conj(np.swapaxes(x, -1, -2))) + 3 * np.eye(shape[-1])
    return tf.constant((np.round(product, 3) + 0.0).astype(dtype))


def factors(tf):
    results = []
    for dtype in DTYPES:
        a, b = _constant(tf, dtype, 2, 3, 3), _constant(tf, dtype, 2, 3, 2, seed=1)
        positive = _positive(tf, dtype, 2, 3, 3)
        results += [tf.cholesky(positive), tf.matrix_inverse(a), tf.matrix_inverse(a, adjoint=True)]
        results += [tf.matrix_solve(a, b), tf.matrix_solve(a, b, adjoint=True), tf.matrix_determinant(a)]
        results += list(tf.linalg.slogdet(a)) + [tf.linalg.logdet(positive), tf.self_adjoint_eigvals(positive)]
        results += [tf.svd(b, compute_uv=False), tf.linalg.norm(b, axis=[1, 2], ord=2)] + list(tf.linalg.lu(a))
        lower = tf.matrix_band_part(a, -1, 0)
        results += [tf.matrix_triangular_solve(lower, b), tf.matrix_triangular_solve(lower, b, adjoint=True)]
        results += [tf.cholesky_solve(tf.cholesky(positive), b), tf.linalg.expm(a * 0.3)]
        if dtype == np.complex64:
            results += [tf.matrix_solve_ls(a, b, fast=False)]
        tall = _constant(tf, dtype, 4, 2, seed=4)
        results += [tf.matrix_solve_ls(tall, tall), tf.matrix_solve_ls(tf.transpose(tall), tall[:2])]
        diagonals = _constant(tf, dtype, 3, 4, seed=5) + [[0], [5], [0]]
        rhs = _constant(tf, dtype, 4, 2, seed=6)
        results += [tf.linalg.tridiagonal_solve(diagonals, rhs), tf.linalg.tridiagonal_matmul(diagonals, rhs)]
        results += [tf.linalg.tridiagonal_solve(diagonals, tf.transpose(rhs), transpose_rhs=True, conjugate_rhs=True)]
    return results


def gradients_of_factors(tf):
    results = []
    for dtype in DTYPES:
        a, b = _constant(tf, dtype, 2, 3, 3), _constant(tf, dtype, 2, 3, 2, seed=1)
        positive = _positive(tf, dtype, 2, 3, 3)
        for result, wrt in (
            (tf.cholesky(positive), [positive]),
            (tf.matrix_inverse(a), [a]),
            (tf.matrix_solve(a, b), [a, b]),
            (tf.matrix_solve(a, b, adjoint=True), [a, b]),
            (tf.matrix_determinant(a), [a]),
            (tf.matrix_triangular_solve(a, b), [a, b]),
            (tf.self_adjoint_eigvals(positive), [positive]),
        ):
            results += tf.gradients(result, wrt, tf.ones_like(result) * tf.constant(2 - 1j, dtype))
        results += tf.gradients(tf.svd(b, compute_uv=False), b)
        diagonals = _constant(tf, dtype, 3, 4, seed=5) + [[0], [5], [0]]
        rhs = _constant(tf, dtype, 4, 2, seed=6)
        product = tf.linalg.tridiagonal_matmul(diagonals, rhs)
        results += tf.gradients(product, [diagonals, rhs], product)
    return results


def variables(tf):
    v = tf.Variable([1 + 1j, 2.0], dtype=tf.complex64, name="v")
    r = tf.get_variable("r", initializer=tf.constant([[1j, 2], [3, 4j]], tf.complex128), use_resource=True)
    with tf.control_dependencies([v.initializer, r.initializer]):
        changed = v.assign_add([1j, 1j])
        with tf.control_dependencies([changed]):
            subtracted = v.assign_sub([1.0, 1.0])
        rows = tf.scatter_add(r, [0, 0], [[1, 1], [1j, 1j]])
    with tf.control_dependencies([subtracted, rows]):
        return [v.read_value(), r.read_value(), tf.gather(r, [1])]

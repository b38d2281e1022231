"""Products of matrices, with their gradients."""


def _matrices(tf, transpose_a=False, transpose_b=False):
    a = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], name="a")
    b = tf.constant([[0.5, -1.0], [2.0, 3.0], [-2.0, 1.0]], name="b")
    return tf.constant([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]) if transpose_a else a, (
        tf.constant([[0.5, 2.0, -2.0], [-1.0, 3.0, 1.0]]) if transpose_b else b
    )


def _batches(tf, transpose_a=False, transpose_b=False):
    a, b = _matrices(tf, transpose_a, transpose_b)
    return tf.stack([a, a * 2.0]), tf.stack([b, b - 1.0])


def _product(make, transpose_a, transpose_b):
    def snippet(tf):
        a, b = make(tf, transpose_a, transpose_b)
        product = tf.matmul(a, b, transpose_a, transpose_b)
        return [product] + tf.gradients(product, [a, b])

    return snippet


for _a in (False, True):
    for _b in (False, True):
        globals()["matrices_%d%d" % (_a, _b)] = _product(_matrices, _a, _b)
        globals()["batches_%d%d" % (_a, _b)] = _product(_batches, _a, _b)


def named(tf):
    a, b = _matrices(tf)
    return [tf.matmul(a, b, name="product"), tf.matmul(a, a, adjoint_b=True), tf.linalg.matmul([[1, 2]], [[3], [4]])]


def of_unknown_shapes(tf):
    a, b = _matrices(tf)
    x = tf.placeholder_with_default(a, [None, 3])
    y = tf.placeholder_with_default(b, None)
    product = tf.matmul(x, y)
    return [tf.matmul(x, b), product] + tf.gradients(product, [x, y])


def of_broadcast_batches(tf):
    a, b = _batches(tf)
    _, matrix = _matrices(tf)
    product = tf.matmul(a, matrix)
    other = tf.matmul(tf.expand_dims(a, 1), b)
    return [product, other] + tf.gradients(product, [a, matrix]) + tf.gradients(other, [a, b])


def second_gradient(tf):
    a, b = _matrices(tf)
    first = tf.gradients(tf.square(tf.matmul(a, b)), a)
    return tf.gradients(first, [a, b])


def of_sparse_matrices(tf):
    a, b = _matrices(tf)
    product = tf.matmul(a, b, a_is_sparse=True)
    turned = tf.matmul(a, a, transpose_b=True, b_is_sparse=True)
    halves = tf.matmul(tf.cast(a, tf.bfloat16), tf.cast(b, tf.bfloat16), a_is_sparse=True)
    return (
        [product, turned, tf.cast(halves, tf.float32)]
        + tf.gradients(product, [a, b])
        + tf.gradients(turned, [a])
        + tf.gradients(tf.cast(halves, tf.float32), [a, b])
    )


def of_vectors(tf):
    a, _ = _matrices(tf)
    v = tf.constant([1.0, 2.0, 3.0])
    return [tf.linalg.matvec(a, v), tf.linalg.matvec(a, [1.0, 2.0], transpose_a=True)] + tf.gradients(
        tf.linalg.matvec(a, v), [a, v]
    )

"""Loops over rounds that tf.vectorized_map and pfor work on at once, for stillflow and for TensorFlow."""

import numpy as np

MATRICES = np.linspace(-1.0, 1.0, 36).reshape(4, 3, 3)
IMAGES = np.linspace(-1.0, 1.0, 2 * 3 * 4 * 4 * 2).reshape(2, 3, 4, 4, 2)


def bodies(tf):
    """{name: function of the number of a round}."""
    matrices = tf.constant(MATRICES)
    images = tf.constant(IMAGES)

    def loop_until(i):
        return tf.while_loop(
            lambda j, total, same: j < i, lambda j, total, same: (j + 1, total + j * i, same + 2), [0, 10, 0]
        )[1:]

    def loop_of_array(i):
        array = tf.TensorArray(tf.float64, 3).unstack(tf.gather(matrices, i))
        _, total = tf.while_loop(
            lambda j, total: j < 3,
            lambda j, total: (j + 1, total * 2.0 + array.read(j)),
            [0, tf.zeros([3], tf.float64)],
        )
        return total

    def gradient(i):
        x = tf.gather(matrices, i)
        _, y = tf.while_loop(lambda j, y: j < 2, lambda j, y: (j + 1, tf.matmul(y, x)), [0, x])
        return tf.gradients(y, x)[0]

    def convolution(i):
        image = tf.gather(images, i % 2)
        kernel = tf.constant(np.linspace(0.0, 1.0, 12).reshape(1, 2, 2, 3))
        y = tf.nn.conv2d(image, kernel, [1, 1, 1, 1], "SAME")
        return [y, tf.nn.max_pool(y, [1, 2, 2, 1], [1, 2, 2, 1], "VALID"), *tf.gradients(y * y, [image, kernel])]

    def rearranged(i):
        x = tf.gather(matrices, i)
        return [
            x[1, ::2], tf.transpose(x), tf.reshape(x, [-1]), tf.concat([x, x], -1), tf.stack([x, x], 1), tf.tile(x, [2, 1]),
            tf.pad(x, [[1, 0], [0, 2]]), tf.slice(x, [0, 1], [2, 2]), tf.expand_dims(x, -1), tf.split(x, 3, axis=1)[1],
            tf.unstack(x)[2], tf.squeeze(x[:1]), tf.gather(x, [2, 0], axis=1), tf.one_hot(i, 4), tf.shape(x), tf.size(x),
            tf.gather_nd(x, [[0, 1], [2, 2]]), tf.gather(x, i % 3), tf.reverse(x, [-1]), tf.fill([2], x[0, 0]),
            tf.linalg.band_part(x, 0, 1), tf.linalg.diag(x[0]), tf.linalg.diag_part(x),
        ]  # fmt: skip

    def arithmetic(i):
        x = tf.gather(matrices, i)
        y = tf.cast(i, tf.float64)
        return [
            x + y, x * x[0], tf.exp(x) - [1.0, 2.0, 3.0], tf.reduce_sum(x, 1), tf.reduce_max(x), tf.argmax(x, -1),
            tf.matmul(x, x, transpose_b=True), tf.matmul(MATRICES[0], x), tf.where(x > 0, x, -x), tf.nn.softmax(x),
            tf.where(x[0, 0] > 0, x, -x), tf.cumsum(x, 1), tf.nn.bias_add(x, x[0]), tf.cast(x * 9, tf.int32),
            tf.linalg.cholesky(tf.matmul(x, x, transpose_b=True) + 9.0 * tf.eye(3, dtype=tf.float64)),
            tf.unsorted_segment_sum(x, [0, 2, 0], 3), tf.add_n([x, x, x]), tf.nn.relu(x), i < 2,
        ]  # fmt: skip

    def called(i):
        return called_function(tf.gather(matrices, i))

    @tf.function
    def called_function(x):
        return tf.reduce_sum(x * x, 0) + 1.0

    return {body.__name__: body for body in (
        loop_until, loop_of_array, gradient, convolution, rearranged, arithmetic, called,
    )}  # fmt: skip


def outcomes(tf):
    """{name of a result: its values in four rounds that are run in turn, stacked}."""
    found = {}
    for name in bodies(tf):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            number = tf.compat.v1.placeholder(tf.int32, [])
            results = bodies(tf)[name](number)
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            rounds = [session.run(results, {number: i}) for i in range(4)]
            for index, values in enumerate(zip(*rounds)):
                found["{}_{}".format(name, index)] = np.round(np.stack(values).astype(np.float64), 12).tolist()
    return found

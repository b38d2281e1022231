"""Products over given axes, norms."""

import numpy as np


def _unknown(tf, values, shape=None):
    return tf.placeholder_with_default(tf.constant(values), shape)


def _array(tf, *shape):
    return tf.constant(np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) / 4)


def tensor_dots(tf):
    x, y = _array(tf, 2, 3, 4), _array(tf, 4, 3)
    return [
        tf.tensordot(x, y, 1), tf.tensordot(x, y, [[2, 1], [0, 1]], name="named"), tf.tensordot(x, y, [[1], [1]]),
        tf.tensordot(x, [1.0, 2.0, 3.0, 4.0], axes=1), tf.tensordot(x, y, [2, 0]),
        tf.tensordot([1.0, 2.0], [3.0, 4.0], 0), tf.tensordot(x, y, [[-1], [0]]), tf.linalg.tensordot(x, y, 1),
    ]  # fmt: skip


def tensor_dots_of_unknown_shapes(tf):
    x, y = _unknown(tf, np.ones([2, 3, 4], np.float32), [None, 3, 4]), _array(tf, 4, 3)
    z = _unknown(tf, np.ones([2, 3, 4], np.float32))
    axes = _unknown(tf, [[2], [0]], [2, 1])
    return [tf.tensordot(x, y, 1), tf.tensordot(z, y, [[2], [0]]), tf.tensordot(x, y, axes)]


def gradient_of_tensor_dot(tf):
    x, y = _array(tf, 2, 3, 4), _array(tf, 4, 3)
    return tf.gradients(tf.tensordot(x, y, [[2], [0]]), [x, y])


def einsums(tf):
    x, y, z = _array(tf, 2, 3), _array(tf, 3, 4), _array(tf, 5, 2, 3)
    return [
        tf.einsum("ij,jk->ik", x, y), tf.einsum("ij->ji", x), tf.einsum("ij,jk", x, y), tf.einsum("ij->i", x),
        tf.einsum("bij,jk->bik", z, y, name="named"), tf.einsum("bij,ij->b", z, x), tf.einsum("ij,ij->ij", x, x),
        tf.einsum("i,j->ij", _array(tf, 2), _array(tf, 3)), tf.einsum("bij,jk,kl->bil", z, y, _array(tf, 4, 2)),
        tf.einsum("ij->", x), tf.einsum("bij,bkj->bik", z, z), tf.linalg.einsum("ij,kj->ik", x, x),
    ]  # fmt: skip


def einsums_of_unknown_shapes(tf):
    x, y = _unknown(tf, np.ones([2, 3], np.float32), [None, 3]), _array(tf, 3, 4)
    z = _unknown(tf, np.ones([5, 2, 3], np.float32), [None, None, 3])
    return [tf.einsum("ij,jk->ik", x, y), tf.einsum("bij,jk->bik", z, y), tf.einsum("bij,ij->bi", z, x)]


def einsums_summed_over_unknown_sizes(tf):
    x = _unknown(tf, np.arange(48, dtype=np.float32).reshape(2, 3, 2, 4), [None, None, 2, 4])
    y = _unknown(tf, np.arange(6, dtype=np.float32), [None])
    scores = tf.einsum("BTNH,BFNH->BNFT", x, x)
    mixed = tf.einsum("BNFT,BTNH->BFNH", scores, x)
    return [scores, mixed, tf.einsum("i,i->", y, y), *tf.gradients(mixed, x)]


def einsums_with_dots(tf):
    x, y, z = _array(tf, 2, 3), _array(tf, 3, 4), _array(tf, 5, 2, 3)
    return [
        tf.einsum("...ij,jk->...ik", z, y), tf.einsum("...ij,...jk", x, y), tf.einsum("i...->...", x),
        tf.einsum("...->...", z), tf.einsum("ij...,j...->i...", x, tf.constant([1.0, 2.0, 3.0])),
        tf.einsum("...i->...", tf.placeholder_with_default(x, [None, 3]), name="e"), tf.einsum("...i,...i", x, x),
    ]  # fmt: skip


def einsums_of_many(tf):
    x, y = _array(tf, 2, 3), _array(tf, 3, 3)
    return [
        tf.einsum("ij,ij,ij->i", x, x, x), tf.einsum("ai,aj,ak->ijk", x, x, x), tf.einsum("ii", y),
        tf.einsum("ij,ji,ik->jk", x, tf.transpose(x), x, name="m"),
        tf.einsum("ij->ji", _unknown(tf, np.ones([2, 3]))),
    ]  # fmt: skip


def gradient_of_einsum(tf):
    x, y = _array(tf, 2, 3), _array(tf, 3, 4)
    return tf.gradients(tf.einsum("ij,jk->ik", x, y), [x, y])


def crosses(tf):
    x, y = tf.constant([[1.0, 2.0, 3.0]]), tf.constant([[0.5, -1.0, 2.0]])
    product = tf.cross(x, y)
    return [product, tf.cross([1, 0, 0], [0, 1, 0], name="c"), tf.linalg.cross(x, y)] + tf.gradients(product, [x, y])


def norms(tf):
    x = tf.constant([[3.0, -4.0], [0.5, 2.0]])
    return [
        tf.norm(x), tf.norm(x, 1), tf.norm(x, np.inf), tf.norm(x, ord=3, axis=1), tf.norm(x, axis=0, keepdims=True),
        tf.norm(x, "fro", [0, 1]), tf.norm(x, ord=1, axis=(0, 1), name="n"), tf.norm(x, np.inf, axis=[0, 1]),
        tf.norm(x, "euclidean", -1, keep_dims=True), tf.linalg.norm(x), tf.norm(x, 2, axis=1),
    ]  # fmt: skip


def largest_singular_values(tf):
    x = tf.constant(np.arange(24, dtype=np.float32).reshape(2, 3, 4) % 7)
    results = [tf.norm(x, 2, [1, 2]), tf.norm(x, 2, (0, -1), keepdims=True), tf.norm(x[0], ord=2, axis=[0, 1])]
    return results + tf.gradients(results[0], x)


def gradient_of_norm(tf):
    x = tf.constant([[3.0, -4.0], [0.5, 2.0]])
    return tf.gradients(tf.norm(x, axis=1), x)

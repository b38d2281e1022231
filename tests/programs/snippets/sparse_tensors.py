"""Sparse tensors: built, joined, reshaped, reduced, multiplied."""

import numpy as np


def _matrix(tf, name="m"):
    with tf.name_scope(name):
        return tf.SparseTensor([[0, 1], [1, 0], [1, 2]], [1.0, -2.0, 3.0], [2, 3])


def _other(tf):
    return tf.SparseTensor(tf.constant([[0, 0], [1, 2]], tf.int64), np.array([4.0, 5.0], np.float32), (2, 3))


def _unknown(tf, rank=None):
    """A sparse tensor of unknown shapes."""
    places = tf.placeholder_with_default(tf.constant([[0, 1], [1, 0]], tf.int64), [None, rank])
    values = tf.placeholder_with_default(tf.constant([1.0, 2.0]), [None])
    return tf.SparseTensor(places, values, tf.placeholder_with_default(tf.constant([2, 3], tf.int64), [rank]))


def _parts(*sparse):
    return [part for each in sparse for part in (each.indices, each.values, each.dense_shape)]


def made(tf):
    tf.sparse_placeholder(tf.float32)
    tf.sparse_placeholder(tf.int64, [2, 3], name="named")
    tf.sparse.placeholder(tf.string, shape=[None, 3], name="p")
    tf.sparse_placeholder(tf.float32, tf.constant([2, 3], tf.int64))
    value = tf.SparseTensorValue([[0, 0]], [1], [1, 2])
    dense = tf.sparse_tensor_to_dense(value)
    return [
        dense,
        *_parts(
            tf.SparseTensor.from_value(value), tf.convert_to_tensor_or_sparse_tensor(value),
            tf.sparse.from_dense([[0, 3], [4, 0]]), tf.sparse.from_dense([[0.5], [0.0]], name="d"), tf.sparse.eye(3),
            tf.sparse.eye(2, 3, tf.int32, name="e"),
        ),
    ]  # fmt: skip


def shapes(tf):
    x, y = _matrix(tf), _unknown(tf)
    return [
        tf.shape(x), tf.shape(y, name="s"), tf.size(x), tf.size(y, "n", tf.int64), tf.rank(x), tf.rank(y, name="r"),
        tf.constant([x.shape.as_list(), x.get_shape().as_list()]), tf.constant(str(y.shape)),
    ]  # fmt: skip


def to_dense(tf):
    x, y = _matrix(tf), _unknown(tf)
    return [
        tf.sparse_tensor_to_dense(x), tf.sparse.to_dense(y, -1.0, False, "named"), tf.sparse_to_indicator(
            tf.SparseTensor([[0, 0], [0, 1], [2, 0]], [3, 1, 0], [3, 2]), 4
        ),
        tf.sparse.to_indicator(tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1]), tf.constant(2), "i"),
    ]  # fmt: skip


def values_changed(tf):
    x = _matrix(tf)
    return _parts(
        tf.cast(x, tf.int32), tf.abs(x), tf.negative(x), tf.square(x, name="sq"), tf.sign(x), tf.sqrt(tf.abs(x)),
        tf.erf(x), tf.tanh(x), tf.math.bessel_i0e(x),
    )  # fmt: skip


def ordered(tf):
    x = tf.SparseTensor([[1, 2], [0, 1], [1, 0]], [3.0, 1.0, -2.0], [2, 3])
    y = _unknown(tf)
    return _parts(
        tf.sparse_reorder(x), tf.sparse.reorder(y, "named"), tf.sparse_transpose(x), tf.sparse.transpose(x, [1, 0]),
        tf.sparse_transpose(y, name="t"), tf.sparse.transpose(y, [1, 0]),
    )  # fmt: skip


def reshaped(tf):
    x, y = _matrix(tf), _unknown(tf)
    return _parts(
        tf.sparse_reshape(x, [3, 2]), tf.sparse.reshape(x, [-1], name="flat"), tf.sparse_reshape(y, [3, -1]),
        tf.sparse_reshape(x, tf.placeholder_with_default(tf.constant([6, 1]), [None])), tf.sparse.expand_dims(x),
        tf.sparse.expand_dims(_unknown(tf, 2), 0, name="e"), tf.sparse.expand_dims(x, -2), tf.sparse_reset_shape(x),
        tf.sparse.reset_shape(x, [4, 4]), tf.sparse_reset_shape(y),
    )  # fmt: skip


def joined(tf):
    x, y, z = _matrix(tf), _other(tf), _unknown(tf)
    return _parts(
        tf.sparse_concat(0, [x, y]), tf.sparse.concat(1, [x, y, x], name="c"), tf.sparse_concat(-1, [x, z]),
        tf.sparse_concat(None, [y, x], concat_dim=0), tf.sparse_concat(0, [x]),
        tf.sparse_concat(1, [x, tf.SparseTensor([[2, 0]], [1.0], [4, 1])], expand_nonconcat_dim=True),
    )  # fmt: skip


def cut(tf):
    x, y = _matrix(tf), _unknown(tf)
    left, right = tf.sparse_split(sp_input=x, num_split=2, axis=1)
    return _parts(
        tf.sparse_slice(x, [0, 1], [2, 5]), tf.sparse.slice(y, [0, 0], [1, 3], name="s"), left, right,
        *tf.sparse.split(sp_input=y, num_split=2, axis=0, name="p"),
        tf.sparse_retain(x, [True, False, True]), tf.sparse.retain(y, y.values > 1.5),
    )  # fmt: skip


def sums(tf):
    x, y, z = _matrix(tf), _other(tf), _unknown(tf)
    return [
        *_parts(
            tf.sparse_add(x, y), tf.sparse.add(x, z, 2.5), tf.sparse_add(z, z, thresh=1.0), tf.sparse_maximum(x, y),
            tf.sparse.minimum(x, z, "m"),
        ),
        tf.sparse_add(x, np.ones((2, 3), np.float32)),
        tf.sparse_add(tf.ones([2, 3]), y),
    ]  # fmt: skip


def reductions(tf):
    x, y = _matrix(tf), _unknown(tf)
    return [
        tf.sparse_reduce_sum(x), tf.sparse_reduce_sum(x, 0), tf.sparse.reduce_sum(x, [1], keepdims=True),
        tf.sparse_reduce_sum(y), tf.sparse_reduce_sum(y, reduction_axes=-1, keep_dims=True), tf.sparse_reduce_max(x),
        tf.sparse.reduce_max(y, [0, 1]), tf.sparse_reduce_max(x, 1),
        *_parts(
            tf.sparse_reduce_sum_sparse(x, 1), tf.sparse.reduce_max_sparse(x, 0, True), tf.sparse_reduce_sum_sparse(y)
        ),
    ]  # fmt: skip


def products(tf):
    x, y = _matrix(tf), _unknown(tf)
    a = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    return [
        tf.sparse_tensor_dense_matmul(x, a), tf.sparse.matmul(y, a, name="named"),
        tf.sparse.sparse_dense_matmul(x, [[1.0], [2.0]], adjoint_a=True),
        tf.sparse_tensor_dense_matmul(x, tf.transpose(a), adjoint_b=True),
        *_parts(x * 2.0, x * tf.ones([2, 3]), x / [1.0, 2.0, 4.0], tf.constant([[2.0], [3.0]]) * x,
                tf.SparseTensor([[0]], [7], [1]) / 2),
    ]  # fmt: skip


def rows(tf):
    x = tf.SparseTensor([[1, 0], [3, 1]], [1.0, 2.0], [5, 3])
    filled, is_empty = tf.sparse_fill_empty_rows(x, 9.0)
    named, also = tf.sparse.fill_empty_rows(_unknown(tf), 0.0, name="named")
    softmax = tf.sparse_softmax(_matrix(tf))
    masked = tf.sparse_mask(tf.IndexedSlices(tf.ones([3, 2]), tf.constant([4, 2, 7]), tf.constant([9, 2])), [2])
    return [is_empty, also, *_parts(filled, named, softmax, tf.sparse.softmax(_unknown(tf), "s")), masked.values,
            masked.indices]  # fmt: skip


def merged(tf):
    ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [3, 1, 0], [2, 2])
    values = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 1.5, 2.5], [2, 2])
    return _parts(
        tf.sparse_merge(ids, values, 5), tf.sparse.merge(ids, values, tf.constant(5), "m", True),
        tf.sparse_merge([ids, ids], values, [5, 6]),
    )  # fmt: skip


def gradients(tf):
    x, y = _matrix(tf), _other(tf)
    a = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2))
    b = tf.constant(np.arange(1, 7, dtype=np.float32).reshape(2, 3))
    product = tf.sparse_tensor_dense_matmul(x, a)
    last = tf.sparse_tensor_dense_matmul(x, b, adjoint_b=True)
    grads = tf.gradients(product * product, [x.values, a]) + tf.gradients(last * last, [x.values, b])
    total = tf.sparse_add(x, y).values
    grads += tf.gradients(total * total, [x.values, y.values])
    total = tf.sparse_add(x, b)
    grads += tf.gradients(total * total, [x.values, b])
    total = tf.sparse_reduce_sum(x, 1)
    grads += tf.gradients(total * total, x.values)
    part = tf.sparse_slice(x, [0, 0], [2, 2]).values
    grads += tf.gradients(part * part, x.values)
    filled = tf.sparse_fill_empty_rows(tf.SparseTensor([[1, 0]], x.values[:1], [2, 1]), x.values[1])[0].values
    grads += tf.gradients(filled * filled, x.values)
    soft = tf.sparse_softmax(x).values
    grads += tf.gradients(soft * soft, x.values)
    scaled = (x * b).values
    grads += tf.gradients(scaled * scaled, [x.values, b])
    scaled = (x / b[:1]).values
    grads += tf.gradients(scaled * scaled, [x.values, b])
    ordered = tf.sparse_transpose(x).values
    grads += tf.gradients(ordered * [1.0, 2.0, 3.0], x.values)
    return grads


def waited_for(tf):
    with tf.control_dependencies([tf.group(_matrix(tf), name="g")]):
        return [tf.constant(1.0)]


def confusion_matrices(tf):
    labels, predictions = tf.constant([1, 2, 4]), tf.placeholder_with_default([2, 2, 4], [3])
    unknown = tf.placeholder_with_default([[2], [2], [4]], None)
    return [
        tf.confusion_matrix(labels, predictions), tf.math.confusion_matrix(labels, predictions, 5, name="named"),
        tf.math.confusion_matrix([[1], [0]], [1, 1], dtype=tf.float32, weights=[0.5, 2.0]),
        tf.confusion_matrix(labels, unknown, num_classes=tf.constant(6)),
    ]  # fmt: skip


def in_a_larger_shape(tf):
    return _parts(tf.sparse_reset_shape(_unknown(tf), tf.constant([5, 5], tf.int64)))

"""tf.gradients with each of its arguments, and gradients that programs give."""

import numpy as np


def _xy(tf):
    x = tf.constant([1.0, 2.0, 3.0], name="x")
    w = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], name="w")
    return x, w, tf.matmul(tf.expand_dims(x, 0), w, name="y")


def grad_ys(tf):
    x, w, y = _xy(tf)
    z = tf.reduce_sum(x * x, name="z")
    first = tf.gradients([y, z], [x, w], grad_ys=[tf.constant([[1.0, -1.0]]), None])
    second = tf.gradients(z, x, grad_ys=3.0, name="named")
    third = tf.gradients([y, z], [x], [np.ones((1, 2), np.float32), tf.constant(2.0)])
    return first + second + third


def stop_gradients(tf):
    x, w, y = _xy(tf)
    a = tf.square(x, name="a")
    b = tf.reduce_sum(a + x * tf.stop_gradient(a), name="b")
    stopped = tf.gradients(b, [x, a], stop_gradients=[a])
    one = tf.gradients(b, [x], stop_gradients=a)
    return stopped + one + tf.gradients(tf.stop_gradient(y) + y, [w])


def unconnected(tf):
    x, w, y = _xy(tf)
    other = tf.constant([1.0, 2.0], name="other")
    assert tf.gradients(y, [other, tf.constant(1)]) == [None, None]
    zeros = tf.gradients(y, [other, x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    texts = tf.gradients(y, [other], unconnected_gradients="zero")
    return zeros + texts


def aggregation(tf):
    x, w, _ = _xy(tf)
    y = tf.exp(x) + tf.sin(x) * x + tf.square(x)
    found = []
    for method in (
        None,
        tf.AggregationMethod.ADD_N,
        tf.AggregationMethod.DEFAULT,
        tf.AggregationMethod.EXPERIMENTAL_TREE,
        tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    ):
        found += tf.gradients(y, x, aggregation_method=method)
    return found


def gated(tf):
    x, w, y = _xy(tf)
    loss = tf.reduce_sum(tf.multiply(y, y) + tf.reduce_sum(x))
    return tf.gradients(loss, [x, w], gate_gradients=True) + tf.gradients(loss, [x, w], gate_gradients=False)


def colocated(tf):
    with tf.device("/cpu:0"):
        x, w, y = _xy(tf)
    loss = tf.reduce_mean(tf.nn.relu(y))
    return tf.gradients(loss, [x, w], colocate_gradients_with_ops=True)


def slices(tf):
    table = tf.constant(np.arange(12, dtype=np.float32).reshape(4, 3), name="table")
    rows = tf.gather(table, [1, 3, 1], name="rows")
    more = tf.gather(table, tf.constant([0], tf.int64), name="more")
    one = tf.gradients(tf.reduce_sum(rows * rows), table)[0]
    two = tf.gradients(tf.reduce_sum(rows) + tf.reduce_sum(more), table)[0]
    dense = tf.gradients(tf.reduce_sum(rows) + tf.reduce_sum(table * 2.0), table)[0]
    given = tf.gradients(
        rows, table, grad_ys=tf.IndexedSlices(tf.ones([1, 3]), tf.constant([2]), tf.constant([3, 3]))
    )[0]
    return [one.values, one.indices, two.values, two.indices, dense, given.values, given.indices, given.dense_shape]


def through_variables(tf):
    v = tf.Variable([1.0, 2.0], name="v")
    w = tf.Variable(3.0, name="scale")
    y = tf.reduce_sum(v * w)
    return tf.gradients(y, [v, w]) + tf.gradients(tf.gradients(tf.reduce_sum(v * v * w), v), [v, w])


def several_times(tf):
    x, _, _ = _xy(tf)
    y = tf.reduce_sum(x * x * x)
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    with tf.name_scope("scope"):
        third = tf.gradients(second, x)[0]
    return [first, second, third]


def of_part_of_the_outputs(tf):
    x, w, _ = _xy(tf)
    a, b, c = tf.split(x, 3)
    left = tf.gradients(b, x)
    top = tf.nn.top_k(x, 2)
    return left + tf.gradients(top.values, x) + tf.gradients([a, c * 2.0], x)


def integers_on_the_way(tf):
    x, _, _ = _xy(tf)
    index = tf.argmax(x)
    y = tf.cast(tf.cast(x, tf.int32), tf.float32)
    assert tf.gradients([tf.cast(index, tf.float32), y], x) == [None]
    n = tf.constant([2, 3], name="n")
    assert tf.gradients(tf.cast(n, tf.float32) * 2.0, n) == [None]
    return [tf.gradients(tf.gather(x, index) * 2.0, x)[0].values]


def one_by_one(tf):
    x, _, _ = _xy(tf)
    assert tf.gradients(x, x, name=None)
    return [tf.gradients(x * 2.0, [x, x])[1]]


def of_scattered_updates(tf):
    x, y = tf.ones([4]), tf.constant([2.0])
    results = [tf.tensor_scatter_update(x, [[0]], y), tf.tensor_scatter_add(x, [[1]], y)]
    return tf.gradients([2 * result for result in results], [x, y])

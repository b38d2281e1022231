"""Arguments that are rare: names as bytes and None, composite values of branches and loops, shapes known in part."""


def names(tf):
    found = [tf.constant(1.0, name=b"e"), tf.identity(3.0, name=None)]
    found += [tf.constant(value=[1], dtype=tf.int32, shape=[1], name=None), tf.zeros([2], name=None)]
    found += [tf.constant(2.0, name="a/"), tf.reshape([1], [1, 1], name=None)]
    with tf.name_scope("left"), tf.name_scope(None):
        assert tf.get_default_graph().get_name_scope() is None
        found += [tf.square(2.0), tf.Variable(1.0, name=None).initial_value]
    return found


def cond_of_sparse(tf):
    a = tf.SparseTensor([[0], [3]], [1.0, 2.0], [10])
    chosen = tf.cond(
        tf.constant(True), lambda: tf.SparseTensor(a.indices + 1, a.values + 1, a.dense_shape), lambda: a
    )
    return [chosen.indices, chosen.values, chosen.dense_shape] + tf.gradients(chosen.values, a.values)


def while_loop_of_sparse(tf):
    a = tf.SparseTensor([[0], [3]], [1.0, 2.0], [10])
    i, looped = tf.while_loop(
        lambda i, x: i < 3, lambda i, x: [i + 1, tf.SparseTensor(x.indices, x.values * 2, x.dense_shape)], [0, a]
    )
    return [i, looped.indices, looped.values, looped.dense_shape]


def while_loop_of_sparse_with_invariants(tf):
    a = tf.SparseTensor([[0], [3]], [1.0, 2.0], [10])
    _, looped = tf.while_loop(
        lambda i, x: i < 2,
        lambda i, x: [i + 1, tf.sparse.concat(0, [x, x])],
        [tf.constant(0), a],
        [tf.TensorShape([]), tf.TensorShape([None])],
    )
    return [looped.indices, looped.values, looped.dense_shape]


def while_loop_of_specs(tf):
    return list(
        tf.while_loop(
            lambda i, x: i < 3,
            lambda i, x: (i + 1, tf.concat([x, x], 0)),
            [tf.constant(0), tf.constant([1])],
            [tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.int32)],
        )
    )


def gradients_of_rows_of_concatenations(tf):
    found = []
    for axis in (-1, -2, 0, 1):
        a, b = tf.ones([4, 3]), tf.fill([4, 3], 2.0)
        rows = tf.gather(tf.concat([a, b], axis), [0, 2])
        for slices in tf.gradients(rows, [a, b]):
            found += [slices.values, slices.indices, slices.dense_shape]
    return found


def partitioned_variables_of_ints(tf):
    parts = tf.create_partitioned_variables([2, 4], [1, 2], tf.constant([[1, 2, 3, 4], [5, 6, 7, 8]]))
    return [part.initial_value for part in parts]


def shapes_from_stacked_unknown(tf):
    n = tf.placeholder_with_default(2, None)
    x = tf.placeholder_with_default([[1.0, 2.0], [3.0, 4.0]], None)
    tensors = [tf.reshape(x, [n, 2]), tf.tile(tf.zeros([1, 1]), [n, 7]), tf.zeros([n, 7]), tf.fill([n, 3], 1)]
    assert [t.shape.as_list() for t in tensors] == [[None, 2], [None, 7], [None, 7], [None, 3]]
    return tensors


def blocks_of_unknown_size(tf):
    x = tf.placeholder_with_default(tf.ones([4, 2, 2, 2]), [None, None, None, 2])
    pairs = tf.placeholder_with_default([[0, 0], [0, 0]], [2, 2])
    block = tf.placeholder_with_default([2, 2], [2])
    found = [tf.batch_to_space_nd(x, block, pairs), tf.space_to_batch_nd(x, block, pairs)]
    assert [t.shape.as_list() for t in found] == [[None, None, None, 2]] * 2
    return found


def a_function_without_results(tf):
    nothing = tf.py_func(lambda x: None, [tf.constant(3)], [], stateful=False)
    assert nothing == []
    assert isinstance(tf.py_func(lambda x: None, [tf.constant(3)], []), tf.Operation)


def variables_read_from_copies(tf):
    kind = tf.VariableSynchronization
    for sync, trainable, expected in (
        (kind.ON_READ, True, True),
        (kind.ON_READ, None, False),
        (kind.ON_WRITE, None, True),
    ):
        name = "v_{}_{}".format(sync.name, trainable)
        assert tf.get_variable(name, [], synchronization=sync, trainable=trainable).trainable is expected


def quantized_numbers(tf):
    return [tf.constant([(21,), (22,), (23,)], tf.qint32), tf.constant([[(1,)], [(2,)]], tf.qint8)]


def text_of_white_space_as_numbers(tf):
    found = [tf.string_to_number([" ", "\t", " 1.5 "], kind) for kind in (tf.float32, tf.float64)]
    return found + tf.decode_csv([" ,1", "2, 3 "], [[0.5], [0]])


def rows_picked_in_batches(tf):
    v = tf.constant([[1, 2], [3, 4]])
    return [tf.gather(v, [[1], [0]], batch_dims=1), tf.gather(v, [[1, 1], [0, 1]], batch_dims=-1)]


def a_template_of_no_name(tf):
    template = tf.make_template("", lambda: tf.get_variable("dummy", []))
    with tf.variable_scope("outer"):
        assert template().name == "outer//dummy:0"
    assert template.variable_scope_name == "outer/"


def data_sets_with_tensors_as_seeds(tf):
    tf.set_random_seed(7)
    shuffled = tf.data.Dataset.range(9).shuffle(9, seed=tf.constant(3, tf.int64)).batch(9)
    tf.compat.v1.data.make_initializable_iterator(shuffled)

"""Rows of tables, whole and in parts."""


def _table(tf, rows, name="table"):
    return tf.constant([[float(i), i * 0.5 - 1.0] for i in range(rows)], name=name)


def whole(tf):
    table = tf.Variable(_table(tf, 5), name="embeddings")
    rows = tf.nn.embedding_lookup(table, [3, 0, 3])
    matrix = tf.nn.embedding_lookup([table], tf.constant([[1, 2], [4, 0]], tf.int64), name="named")
    return [rows, matrix] + [tf.convert_to_tensor(g.values) for g in tf.gradients(rows * rows, table)]


def clipped(tf):
    table = _table(tf, 5)
    rows = tf.nn.embedding_lookup(table, tf.constant([3, 0, 3]), max_norm=1.5)
    scalar = tf.nn.embedding_lookup(table, 2, max_norm=0.5)
    return [rows, scalar]


def parts_by_remainder(tf):
    parts = [_table(tf, 3, "a"), _table(tf, 2, "b")]
    ids = tf.constant([4, 0, 1, 3])
    return [
        tf.nn.embedding_lookup(parts, ids),
        tf.nn.embedding_lookup(parts, [[1], [2]], "mod", name="named", max_norm=1.0),
    ]


def parts_by_range(tf):
    parts = [_table(tf, 3, "a"), _table(tf, 2, "b"), _table(tf, 2, "c")]
    return [tf.nn.embedding_lookup(parts, tf.constant([6, 0, 3, 5, 2]), partition_strategy="div")]


def gradients_of_parts(tf):
    parts = [tf.Variable(_table(tf, 3), name="a"), tf.Variable(_table(tf, 2), name="b")]
    ids = tf.placeholder_with_default([4, 0, 1, 3], [None])
    rows = tf.nn.embedding_lookup(parts, ids)
    return [tf.convert_to_tensor(g.values) for g in tf.gradients(rows * rows, parts)]


def parts_of_unknown_length(tf):
    parts = [tf.placeholder_with_default(_table(tf, n), [None, 2]) for n in (3, 2)]
    return [tf.nn.embedding_lookup(parts, tf.constant([4, 0, 1, 3]), partition_strategy="div")]


def partitioned_variable(tf):
    table = tf.get_variable(
        "table", [5, 2], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(2)
    )
    return [tf.nn.embedding_lookup(table, tf.constant([4, 0, 1, 3]), "div")]


def _lists(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 1]], [3, 1, 4, 3], [3, 2])


def _weights(tf):
    return tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 1]], [0.5, 2.0, 1.0, 3.0], [3, 2])


def sparse(tf):
    table, ids, weights = _table(tf, 5), _lists(tf), _weights(tf)
    return [
        tf.nn.embedding_lookup_sparse(table, ids, None),
        tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"),
        tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sqrtn", name="named", max_norm=1.0),
        tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="mean"),
        tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sum", name="s"),
        tf.nn.embedding_lookup_sparse([table, table], ids, weights, "div", combiner="sqrtn"),
        tf.nn.embedding_lookup_sparse(tf.cast(table, tf.float16), ids, weights, combiner="mean"),
    ]  # fmt: skip


def gradients_of_sparse(tf):
    table = tf.Variable(_table(tf, 5), name="table")
    weights = tf.constant([0.5, 2.0, 1.0, 3.0])
    ids = _lists(tf)
    rows = tf.nn.embedding_lookup_sparse(table, ids, None, combiner="mean")
    grads = tf.gradients(rows * rows, table)
    rows = tf.nn.embedding_lookup_sparse(table, ids, tf.SparseTensor(ids.indices, weights, [3, 2]), combiner="sum")
    return [tf.convert_to_tensor(g) for g in grads + tf.gradients(rows * rows, [table, weights])]


def safe(tf):
    table = _table(tf, 5)
    places = [[0, 0], [0, 1], [2, 0], [2, 1]]
    places = tf.placeholder_with_default(tf.constant(places, tf.int64), [None, 2])
    ids = tf.SparseTensor(places, tf.placeholder_with_default(tf.constant([3, -1, 4, 3], tf.int64), [None]), [4, 2])
    weights = tf.SparseTensor(places, [0.5, 2.0, 1.0, 0.0], [4, 2])
    deep = tf.SparseTensor([[0, 0, 0], [1, 1, 0]], tf.placeholder_with_default(tf.constant([3, 1], tf.int64), [2]),
                           tf.placeholder_with_default(tf.constant([2, 2, 1], tf.int64), [3]))  # fmt: skip
    return [
        tf.nn.safe_embedding_lookup_sparse(table, ids), tf.nn.safe_embedding_lookup_sparse(table, ids, weights),
        tf.nn.safe_embedding_lookup_sparse([table, table], ids, weights, "sum", default_id=2, name="named"),
        tf.nn.safe_embedding_lookup_sparse(table, deep, combiner="sqrtn", max_norm=1.0),
    ]  # fmt: skip

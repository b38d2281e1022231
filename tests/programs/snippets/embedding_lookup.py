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

"""Combinations of columns of tf.contrib.layers, columns of sequences, embeddings by hashes, and targets."""

from programs.snippets.contrib_columns import _features, _given, _sparse
from programs.snippets.lookup_tables import _counted_names


def _crossed(tf, hash_key=None):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 6)
    dense = layers.sparse_column_with_keys("dense", ["x", "y", "z"])
    buckets = layers.bucketized_column(layers.real_valued_column("pair", 2), [2, 4])
    inner = layers.crossed_column([words, buckets], 20, hash_key=hash_key)
    return inner, layers.crossed_column([inner, dense], 11, combiner="mean", hash_key=hash_key)


def features_crossed(tf):
    cross = tf.contrib.layers.feature_column.sparse_feature_cross_op.sparse_feature_cross
    features = _features(tf)
    inputs = [features["words"], features["dense"], features["ids"]]
    key = tf.contrib.layers.SPARSE_FEATURE_CROSS_DEFAULT_HASH_KEY
    found = [
        cross(inputs),
        cross(inputs, hashed_output=True, name="old"),
        cross(inputs, hashed_output=True, num_buckets=10),
        cross(inputs, hashed_output=True, num_buckets=1000, hash_key=key),
    ]
    return [part for each in found for part in (each.indices, each.values, each.dense_shape)]


def crossed_in_linear_models(tf):
    with _counted_names():
        result, _, _ = tf.contrib.layers.weighted_sum_from_feature_columns(
            _features(tf), _crossed(tf), 2, scope="linear"
        )
    rows = tf.cos(tf.range(20, dtype=tf.float32)[:, None] + [[0.0, 1.0]])
    steps = [tf.assign(v, rows[: v.shape[0]]) for v in tf.trainable_variables()[:-1]]
    with tf.control_dependencies([tf.tables_initializer(), *steps]):
        ready = tf.identity(tf.zeros([]))
    return [ready], [result]


def crossed_in_networks(tf):
    tf.set_random_seed(5)
    layers = tf.contrib.layers
    columns = [layers.embedding_column(column, 2) for column in _crossed(tf, hash_key=7)]
    columns.append(layers.scattered_embedding_column("words", 9, 3, hash_key=5, combiner="sqrtn"))
    with _counted_names():
        result = layers.input_from_feature_columns(_features(tf), columns)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.identity(tf.zeros([]))
    return [ready], [result]


def joint_weights(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 6)
    ids = layers.sparse_column_with_integerized_feature("ids", 5)
    result, weights, bias = layers.joint_weighted_sum_from_feature_columns(_features(tf), [words, ids], 1)
    steps = [tf.assign(each, tf.cos(tf.range(11, dtype=tf.float32))[:, None]) for each in weights]
    with tf.control_dependencies(steps):
        ready = tf.identity(tf.zeros([]))
    return [ready], [result, bias]


def sequences(tf):
    tf.set_random_seed(7)
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 6)
    columns = [layers.embedding_column(words, 2), layers.real_valued_column("numbers", 2)]
    features = {
        "words": _sparse(tf, [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0]], ["a", "b", "c", "a"], [2, 2, 2]),
        "numbers": _given(tf, [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]),
    }
    return [layers.sequence_input_from_feature_columns(features, columns)]


def scattered_embeddings(tf):
    operations = tf.contrib.layers.feature_column.embedding_ops
    numbers = tf.cos(tf.range(7, dtype=tf.float32))
    values = _given(tf, [["a", "b"], ["c", "a"]])
    words = _features(tf)["words"]
    return [
        operations.scattered_embedding_lookup(numbers, values, 3),
        operations.scattered_embedding_lookup([numbers, numbers[1:]], values, 2, hash_key=9),
        operations.scattered_embedding_lookup_sparse(numbers, words, 3, combiner="sum"),
    ]


def targets(tf):
    layers = tf.contrib.layers
    logits = _given(tf, [[0.5], [-1.0], [2.0]])
    labels = _given(tf, [[1.0], [0.0], [1.0]])
    features = {"weight": _given(tf, [1.0, 2.0, 0.5])}
    numbers = layers.regression_target(weight_column_name="weight")
    two = layers.multi_class_target(2, weight_column_name="weight")
    three = layers.multi_class_target(3)
    logits_of_three = tf.concat([logits, 2.0 * logits, tf.sin(logits)], 1)
    return [
        numbers.loss(logits, labels, features),
        numbers.logits_to_predictions(logits),
        two.training_loss(logits, labels, features),
        two.loss(logits, labels, features),
        two.logits_to_predictions(logits, proba=True),
        three.loss(logits_of_three, _given(tf, [0, 2, 1], tf.int64), features),
        three.logits_to_predictions(logits_of_three),
    ]


def reversible_layers(tf):
    def halved(x, side=None):
        scale = tf.get_variable("scale", [3], initializer=tf.constant_initializer([0.5, -1.0, 2.0]))
        return tf.tanh(x * scale) + (0.0 if side is None else tf.reduce_sum(side[0]))

    x1, x2 = _given(tf, [[1.0, 2.0, 0.5]]), _given(tf, [[0.5, -0.5, 0.25]])
    side = _given(tf, [0.25, 0.5])
    # In training TensorFlow reads the variables in the order of a set.
    y1, y2 = tf.contrib.layers.rev_block(x1, x2, halved, halved, num_layers=2, f_side_input=[side], is_training=False)
    loss = tf.reduce_sum(y1 * y1) + tf.reduce_sum(y2)
    return [y1, y2, *tf.gradients(loss, [x1, x2, side, *tf.trainable_variables()])]


def recomputed_layers(tf):
    @tf.contrib.layers.recompute_grad
    def layer(x, is_recomputing=False):
        scale = tf.get_variable("scale", [3], initializer=tf.constant_initializer([0.5, -1.0, 2.0]))
        return tf.tanh(x * scale), tf.exp(x)

    x = _given(tf, [[1.0, 2.0, 0.5]])
    with tf.variable_scope("recomputed", use_resource=True):
        first, second = layer(x)
    return [first, second, *tf.gradients(tf.reduce_sum(first * second), [x, *tf.trainable_variables()])]

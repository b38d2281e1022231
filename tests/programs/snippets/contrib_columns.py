"""Columns of tf.contrib.layers: inputs of networks, linear models, and what they parse."""

import numpy as np

from programs.snippets.lookup_tables import _counted_names


def _given(tf, values, dtype=None):
    """Values that graphs cannot know."""
    values = tf.constant(values, dtype)
    return tf.placeholder_with_default(values, values.shape)


def _sparse(tf, indices, values, shape, dtype=None):
    return tf.SparseTensor(_given(tf, indices, tf.int64), _given(tf, values, dtype), shape)


def _features(tf):
    return {
        "words": _sparse(tf, [[0, 0], [1, 0], [1, 1], [2, 0]], ["a", "b", "c", "a"], [3, 2]),
        "dense": _given(tf, [["x"], ["y"], [""]]),
        "ids": _sparse(tf, [[0, 0], [1, 1], [2, 0]], [3, 11, 7], [3, 2], tf.int64),
        "weights": _sparse(tf, [[0, 0], [1, 1], [2, 0]], [0.5, 2.0, 1.5], [3, 2]),
        "number": _given(tf, [[1.0], [2.5], [-1.0]]),
        "pair": _given(tf, [[1, 2], [3, 4], [5, 6]], tf.int64),
        "flat": _given(tf, [1.0, 2.0, 3.0]),
    }


def _columns(tf):
    layers = tf.contrib.layers
    words = layers.sparse_column_with_hash_bucket("words", 6)
    dense = layers.sparse_column_with_keys("dense", ["x", "y", "z"], combiner="mean")
    ids = layers.sparse_column_with_integerized_feature("ids", 5)
    return words, dense, ids


def networks(tf):
    tf.set_random_seed(3)
    layers = tf.contrib.layers
    words, dense, ids = _columns(tf)
    number = layers.real_valued_column("number", normalizer=lambda x: x * 2.0)
    columns = [
        layers.embedding_column(words, 3),
        layers.embedding_column(ids, 2, combiner="sum", initializer=tf.ones_initializer(), max_norm=1.0),
        layers.one_hot_column(dense),
        number,
        layers.real_valued_column("pair", 2, dtype=tf.int64),
        layers.bucketized_column(layers.real_valued_column("flat"), [1.5, 2.5, 2.5]),
        layers.one_hot_column(layers.weighted_sparse_column(ids, "weights")),
        layers.embedding_column(layers.weighted_sparse_column(ids, "weights"), 2, trainable=False),
    ]
    with _counted_names():
        found = {}
        result = layers.input_from_feature_columns(_features(tf), columns, ["own"], cols_to_outs=found)
    names = [tf.constant([v.op.name for v in tf.get_collection(key)]) for key in ("own", "trainable_variables")]
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.identity(tf.zeros([]))
    return [ready], [result, found[number], tf.gradients(result, tf.trainable_variables()[-1])[0].values, *names]


def shared(tf):
    layers = tf.contrib.layers
    columns = layers.shared_embedding_columns(
        [layers.sparse_column_with_hash_bucket("words", 6), layers.sparse_column_with_hash_bucket("dense", 6)],
        2,
        initializer=tf.ones_initializer(),
    )
    return [layers.input_from_feature_columns(_features(tf), columns)]


def linear_models(tf):
    layers = tf.contrib.layers
    words, dense, ids = _columns(tf)
    columns = [
        words,
        dense,
        layers.weighted_sparse_column(ids, "weights"),
        layers.real_valued_column("number"),
        layers.bucketized_column(layers.real_valued_column("number"), [0.0, 2.0]),
        layers.bucketized_column(layers.real_valued_column("pair", 2), [2, 4]),
    ]
    with _counted_names():
        result, variables, bias = layers.weighted_sum_from_feature_columns(_features(tf), columns, 2, scope="linear")
    rows = tf.cos(tf.range(8, dtype=tf.float32)[:, None] + [[0.0, 1.0]])
    steps = [tf.assign(v, rows[: v.shape[0]]) for v in tf.trainable_variables()[:-1]]
    with tf.control_dependencies([tf.tables_initializer(), *steps]):
        ready = tf.identity(tf.zeros([]))
    lengths = tf.constant([len(variables[column]) for column in columns])
    return [ready], [result, bias, lengths]


def specs(tf):
    layers = tf.contrib.layers
    words, dense, ids = _columns(tf)
    columns = [words, layers.real_valued_column("pair", 2, default_value=[1, 2]), layers.embedding_column(ids, 2)]
    spec = layers.create_feature_spec_for_parsing(columns)
    layers.make_place_holder_tensors_for_base_features([columns[1]])
    example = tf.train.Example()
    example.features.feature["words"].bytes_list.value.extend([b"a", b"b"])
    example.features.feature["ids"].int64_list.value.append(7)
    parsed = layers.parse_feature_columns_from_examples(
        tf.constant([example.SerializeToString(deterministic=True)]), columns
    )
    transformed = layers.transform_features(_features(tf), columns[:2])
    inferred = layers.infer_real_valued_columns({"a": tf.zeros([2, 3, 4])})
    texts = [str(sorted(spec)), columns[1].key, words.key, str(inferred[0].dimension)]
    values = [parsed[words].values, parsed["pair"], parsed[ids].values, transformed[words].values]
    return [*values, tf.constant(texts)]


def hashes(tf):
    layers = tf.contrib.layers
    keyed = layers.sparse_column_with_hash_bucket("words", 9, hash_keys=[[1, 2], [3, 4]])
    numbers = layers.sparse_column_with_hash_bucket("ids", 9, dtype=tf.int64)
    found = layers.transform_features(_features(tf), [keyed, numbers])
    return [found[keyed].values, found[keyed].dense_shape, found[numbers].values, tf.constant(np.float32(0))]

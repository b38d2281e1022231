"""tf.feature_column: what columns make of features, input layers and linear models."""

import os
import tempfile

from programs.snippets.lookup_tables import _counted_names

VOCABULARY = os.path.join(tempfile.gettempdir(), "stillflow_vocabulary.txt")


def _features(tf):
    """Features that no shape function can work out."""
    features = {
        "price": tf.constant([[1.0], [3.0], [20.0]]),
        "pair": tf.constant([[1, 2], [3, 4], [5, 6]]),
        "vector": tf.constant([0.5, -1.5, 2.5]),
        "color": tf.constant([["red", "blue"], ["", "red"], ["green", ""]]),
        "number": tf.constant([[2], [-1], [4]], tf.int64),
        "words": tf.SparseTensor([[0, 0], [0, 2], [2, 1]], ["a", "b", "c"], [3, 3]),
        "ids": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], tf.constant([1, 0, 2], tf.int64), [3, 2]),
        "weights": tf.SparseTensor([[0, 0], [1, 0], [1, 1]], [0.5, 2.0, -1.0], [3, 2]),
        "dense_weights": tf.constant([[0.5, 0.0], [2.0, 1.0], [0.0, 3.0]]),
        "dense_ids": tf.constant([[1, -1], [0, 2], [-1, 1]]),
    }
    return {name: _unknown(tf, feature) for name, feature in sorted(features.items())}


def _unknown(tf, feature):
    if isinstance(feature, tf.SparseTensor):
        return tf.SparseTensor(
            *[_unknown(tf, part) for part in (feature.indices, feature.values, feature.dense_shape)]
        )
    return tf.placeholder_with_default(feature, feature.shape)


def numbers(tf):
    fc = tf.feature_column
    columns = [
        fc.numeric_column("price", normalizer_fn=lambda x: x / 2.0),
        fc.numeric_column("pair", shape=2, dtype=tf.int32),
        fc.numeric_column("vector"),
        fc.bucketized_column(fc.numeric_column("price", dtype=tf.float32), [1.0, 3, 10]),
    ]
    return [fc.input_layer(_features(tf), columns), fc.linear_model(_features(tf), columns, units=2)]


def buckets(tf):
    fc = tf.feature_column
    column = fc.bucketized_column(fc.numeric_column("pair", shape=2, dtype=tf.int32), [2, 4])
    cols_to_vars = {}
    with tf.variable_scope("outer", initializer=tf.ones_initializer()):
        made = fc.linear_model(_features(tf), [column], cols_to_vars=cols_to_vars)
    assert sorted(v.name for vs in cols_to_vars.values() for v in vs) == [
        "outer/linear_model/bias_weights:0",
        "outer/linear_model/pair_bucketized/weights:0",
    ]
    return [
        made,
        fc.input_layer(_features(tf), column),
        fc.input_layer(_features(tf), fc.embedding_column(column, 2, initializer=tf.ones_initializer())),
    ]


def hashes(tf):
    fc = tf.feature_column
    color, number = (
        fc.categorical_column_with_hash_bucket("color", 10),
        fc.categorical_column_with_hash_bucket("number", 4, tf.int64),
    )
    words = fc.categorical_column_with_hash_bucket("words", 7)
    columns = [fc.indicator_column(column) for column in (color, number, words)]
    outputs, variables = {}, {}
    layer = fc.input_layer(_features(tf), columns, cols_to_output_tensors=outputs, cols_to_vars=variables)
    assert sorted(variables.values()) == [[], [], []]
    return [layer, *[outputs[column] for column in columns], fc.linear_model(_features(tf), [color, number, words])]


def identities(tf):
    fc = tf.feature_column
    columns = [
        fc.indicator_column(fc.categorical_column_with_identity("ids", 3)),
        fc.indicator_column(fc.categorical_column_with_identity("dense_ids", 2, default_value=1)),
        fc.indicator_column(fc.categorical_column_with_identity("number", 5)),
    ]
    return [fc.input_layer(_features(tf), columns), fc.linear_model(_features(tf), columns, sparse_combiner="mean")]


def weighted(tf):
    fc = tf.feature_column
    sparse = fc.weighted_categorical_column(fc.categorical_column_with_identity("ids", 3), "weights")
    dense = fc.weighted_categorical_column(fc.categorical_column_with_identity("dense_ids", 3), "dense_weights")
    with tf.variable_scope("ones", initializer=tf.ones_initializer()):
        embedding = fc.embedding_column(sparse, 2, "sum", initializer=tf.ones_initializer(), max_norm=1.0)
        layer = fc.input_layer(_features(tf), [embedding, fc.indicator_column(dense)])
    return [layer, fc.linear_model(_features(tf), [sparse, dense])]


def crossed(tf):
    fc = tf.feature_column
    bucketized = fc.bucketized_column(fc.numeric_column("price"), [1, 10])
    inner = fc.crossed_column(["color", "words"], 10)
    columns = [
        fc.crossed_column(["color", bucketized], 8),
        fc.crossed_column([fc.categorical_column_with_identity("ids", 3), "words"], 5, hash_key=3),
        fc.crossed_column([inner, bucketized], 9),
    ]
    layer = fc.input_layer(_features(tf), [fc.indicator_column(column) for column in columns])
    return [layer, fc.linear_model(_features(tf), columns)]


def embeddings(tf):
    fc = tf.feature_column
    tf.set_random_seed(3)
    color = fc.categorical_column_with_hash_bucket("color", 10)
    embedding = fc.embedding_column(color, 4)
    frozen = fc.embedding_column(fc.categorical_column_with_identity("ids", 3), 2, "sqrtn", trainable=False)
    variables = {}
    layer = fc.input_layer(_features(tf), [embedding, frozen], weight_collections=["mine"], cols_to_vars=variables)
    assert [v.name for v in tf.get_collection("mine")] == [
        v.name for column in (embedding, frozen) for v in variables[column]
    ]
    return [layer, fc.linear_model(_features(tf), [embedding])]


def partitioned_embeddings(tf):
    fc = tf.feature_column
    color = fc.categorical_column_with_hash_bucket("color", 10)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2), initializer=tf.ones_initializer()):
        layer = fc.input_layer(_features(tf), [fc.embedding_column(color, 4, initializer=tf.ones_initializer())])
        return [layer, fc.linear_model(_features(tf), [color])]


def shared_embeddings(tf):
    fc = tf.feature_column
    tf.set_random_seed(3)
    ids, others = fc.categorical_column_with_identity("ids", 3), fc.categorical_column_with_identity("dense_ids", 3)
    first, second = fc.shared_embedding_columns([ids, fc.weighted_categorical_column(others, "dense_weights")], 2)
    named = fc.shared_embedding_columns([ids, others], 2, shared_embedding_collection_name="both", trainable=False)
    layers = [fc.input_layer(_features(tf), [first, second]), fc.input_layer(_features(tf), named)]
    return layers + [fc.linear_model(_features(tf), named)]


def vocabularies(tf):
    fc = tf.feature_column
    with open(VOCABULARY, "w") as file:
        file.write("red\ngreen\nblue\n")
    with _counted_names():
        columns = [
            fc.categorical_column_with_vocabulary_list("color", ["red", "green"], num_oov_buckets=2),
            fc.categorical_column_with_vocabulary_list("words", ["a", "b"], default_value=1),
            fc.categorical_column_with_vocabulary_list("ids", [2, 1, 0]),
            fc.categorical_column_with_vocabulary_file("color", VOCABULARY, vocabulary_size=2),
            fc.categorical_column_with_vocabulary_file("color", VOCABULARY, 3, num_oov_buckets=1),
        ]
        for column in columns:
            fc.input_layer(_features(tf), [fc.indicator_column(column)])
        fc.linear_model(_features(tf), columns[:3])


def unknown_ranks(tf):
    fc = tf.feature_column
    features = {
        "price": tf.placeholder_with_default([1.0, 2.0], None),
        "color": tf.placeholder_with_default(["a", "b"], None),
    }
    color = fc.indicator_column(fc.categorical_column_with_hash_bucket("color", 3))
    return [fc.input_layer(features, [fc.numeric_column("price"), color])]


def _sequences(tf):
    features = {
        "numbers": tf.SparseTensor(
            [[0, 0], [0, 1], [0, 2], [0, 3], [2, 0], [2, 1]], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 4]
        ),
        "ids": tf.SparseTensor([[0, 0], [0, 1], [2, 0]], tf.constant([1, 0, 2], tf.int64), [3, 2]),
        "deep": tf.SparseTensor([[0, 0, 0], [0, 1, 0], [0, 1, 1], [2, 0, 0]], ["a", "b", "c", "d"], [3, 2, 2]),
    }
    return {name: _unknown(tf, feature) for name, feature in sorted(features.items())}


def sequences(tf):
    fc, contrib = tf.feature_column, tf.contrib.feature_column
    tf.set_random_seed(2)
    found = []
    for module in (fc, contrib):
        ids = module.sequence_categorical_column_with_identity("ids", 3)
        deep = module.sequence_categorical_column_with_hash_bucket("deep", 5)
        columns = [fc.embedding_column(ids, 2), fc.indicator_column(deep)]
        found += contrib.sequence_input_layer(_sequences(tf), columns)
    numeric = contrib.sequence_numeric_column("numbers", shape=2, normalizer_fn=lambda x: x)
    found += contrib.sequence_input_layer(_sequences(tf), [numeric])
    return found


def sparse_crosses(tf):
    words = tf.SparseTensor([[0, 0], [0, 1], [2, 0]], ["a", "b", "c"], [3, 2])
    numbers = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [2, 1]], tf.constant([1, 2, -3, 4], tf.int32), [3, 2])
    dense = tf.constant([["x", "y"], ["z", ""], ["v", "w"]])
    found = [
        tf.sparse.cross([words, numbers]),
        tf.sparse.cross([words, dense]),
        tf.sparse.cross([dense], name="one"),
        tf.sparse.cross_hashed([words, numbers, dense]),
        tf.sparse.cross_hashed([dense, words], 100, 7),
    ]
    return [part for sparse in found for part in (sparse.indices, sparse.values, sparse.dense_shape)]


def parse_specs(tf):
    fc = tf.feature_column
    price = fc.numeric_column("price", shape=2, default_value=1.5)
    color = fc.categorical_column_with_hash_bucket("color", 10)
    columns = [
        price,
        fc.bucketized_column(price, [1.0]),
        fc.embedding_column(color, 2),
        fc.crossed_column(["a", fc.bucketized_column(fc.numeric_column("b"), [1])], 5),
        fc.indicator_column(fc.weighted_categorical_column(fc.categorical_column_with_identity("i", 3), "w")),
    ]
    spec = fc.make_parse_example_spec(columns)
    example = tf.train.Example()
    example.features.feature["b"].float_list.value.append(3.0)
    example.features.feature["color"].bytes_list.value.append(b"red")
    parsed = tf.parse_example([example.SerializeToString(deterministic=True)], spec)
    return [parsed["price"], parsed["b"], parsed["color"].values]

"""What columns say of themselves and what errors they raise; TensorFlow 1.15.5's answers are in tests/golden.

Runs in Python 3.7, too, where tools/record_golden.py records it.
"""

import os
import re
import tempfile

import numpy as np


def _caught(function):
    try:
        return repr(function())
    except Exception as error:
        return "{}: {}".format(type(error).__name__, error)


def _columns(tf):
    fc = tf.feature_column
    price = fc.numeric_column("price", shape=(2,), default_value=[1.0, 2], dtype=tf.float64)
    color = fc.categorical_column_with_hash_bucket("color", 10)
    ids = fc.categorical_column_with_identity("ids", 3, default_value=1)
    bucketized = fc.bucketized_column(price, [1, 2.5, 3])
    shared = fc.shared_embedding_columns([ids, fc.categorical_column_with_identity("others", 3)], 2)
    return [
        price,
        color,
        ids,
        bucketized,
        *shared,
        fc.numeric_column("n", default_value=np.array([3])),
        fc.numeric_column("n", shape=[1, 2], default_value=0.5),
        fc.categorical_column_with_hash_bucket("number", 4, tf.int32),
        fc.categorical_column_with_vocabulary_list("word", ["a", "b"], num_oov_buckets=2),
        fc.categorical_column_with_vocabulary_list("id", [3, 1], default_value=0),
        fc.categorical_column_with_vocabulary_file("word", "/some/file", 3, num_oov_buckets=1),
        fc.categorical_column_with_vocabulary_file("word", "/some/file", 3, default_value=2, dtype=tf.int64),
        fc.weighted_categorical_column(color, "weight"),
        fc.weighted_categorical_column(ids, "weight", tf.int32),
        fc.crossed_column(["a", bucketized], 5),
        fc.crossed_column([fc.crossed_column(["b", "c"], 3), ids, "a"], 5, 7),
        fc.indicator_column(ids),
        fc.embedding_column(color, 3, "sum", initializer=max, max_norm=2.0),
        fc.embedding_column(fc.weighted_categorical_column(color, "weight"), 3, initializer=max, trainable=False),
        fc.sequence_categorical_column_with_identity("s", 3),
        fc.sequence_categorical_column_with_hash_bucket("s", 3),
        fc.sequence_categorical_column_with_vocabulary_list("s", ["a"]),
        fc.sequence_categorical_column_with_vocabulary_file("s", "/some/file", 4),
        fc.sequence_numeric_column("s", (2, 3), 1.5, tf.int32, abs),
        fc.indicator_column(fc.sequence_categorical_column_with_identity("s", 3)),
    ]


def what_they_are(tf):
    found = []
    for column in _columns(tf):
        parts = {
            "name": column.name,
            "scope": getattr(column, "_var_scope_name", column.name),
            "is new": getattr(column, "_is_v2_column", False),
        }
        for part in ("variable_shape", "num_buckets", "parse_example_spec", "parents"):
            if hasattr(column, part):
                parts[part] = str(getattr(column, part))
            if hasattr(column, "_" + part):
                parts["_" + part] = str(getattr(column, "_" + part))
        found.append([repr(column), parts])
    return found


def orders(tf):
    fc = tf.feature_column
    columns = [fc.numeric_column("b"), fc.numeric_column("a"), fc.categorical_column_with_identity("c", 3)]
    return [
        [column.name for column in sorted(columns)],
        columns[0] > columns[1],
        columns[0] == fc.numeric_column("b"),
        len({*columns, fc.numeric_column("a")}),
    ]


def wrong_arguments(tf):
    fc = tf.feature_column
    price, color = fc.numeric_column("price"), fc.categorical_column_with_hash_bucket("color", 10)
    ids, wide = fc.categorical_column_with_identity("ids", 3), fc.numeric_column("wide", shape=(2, 3))
    path = os.path.join(tempfile.gettempdir(), "stillflow_no_such_file")
    embed, share, cross, words = (
        fc.embedding_column,
        fc.shared_embedding_columns,
        fc.crossed_column,
        fc.categorical_column_with_vocabulary_list,
    )
    lines = fc.categorical_column_with_vocabulary_file
    return [
        _caught(function)
        for function in (
            lambda: fc.numeric_column(3),
            lambda: fc.numeric_column("a", shape=1.5),
            lambda: fc.numeric_column("a", shape=[1, 0]),
            lambda: fc.numeric_column("a", dtype=tf.string),
            lambda: fc.numeric_column("a", default_value="b"),
            lambda: fc.numeric_column("a", dtype=tf.int32, default_value=0.5),
            lambda: fc.numeric_column("a", shape=2, default_value=[1, 2, 3]),
            lambda: fc.numeric_column("a", shape=2, default_value=["b", "c"]),
            lambda: fc.numeric_column("a", shape=2, dtype=tf.int32, default_value=[0.5, 1]),
            lambda: fc.numeric_column("a", normalizer_fn=3),
            lambda: fc.bucketized_column(color, [1]),
            lambda: fc.bucketized_column(wide, [1]),
            lambda: fc.bucketized_column(price, []),
            lambda: fc.bucketized_column(price, "ab"),
            lambda: fc.bucketized_column(price, [2, 1]),
            lambda: fc.bucketized_column(price, [1, 1]),
            lambda: fc.categorical_column_with_hash_bucket("a", None),
            lambda: fc.categorical_column_with_hash_bucket("a", 0),
            lambda: fc.categorical_column_with_hash_bucket(("a",), 3),
            lambda: fc.categorical_column_with_hash_bucket("a", 3, tf.float32),
            lambda: fc.categorical_column_with_identity("a", 0),
            lambda: fc.categorical_column_with_identity("a", 3, 3),
            lambda: fc.categorical_column_with_identity("a", 3, -1),
            lambda: fc.categorical_column_with_identity(5, 3),
            lambda: words("a", []),
            lambda: words("a", None),
            lambda: words("a", ["b", "b"]),
            lambda: words("a", [1.5]),
            lambda: words("a", ["b"], tf.int64),
            lambda: words("a", ["b"], default_value=1, num_oov_buckets=1),
            lambda: words("a", ["b"], num_oov_buckets=-1),
            lambda: words(3, ["b"]),
            lambda: lines("a", None),
            lambda: lines("a", path),
            lambda: lines("a", path, 0),
            lambda: lines("a", path, -1),
            lambda: lines("a", path, 3, 1, 2),
            lambda: lines("a", path, 3, -1),
            lambda: lines("a", path, 3, dtype=tf.float64),
            lambda: lines(3, path, 3),
            lambda: fc.weighted_categorical_column(color, "w", None),
            lambda: fc.weighted_categorical_column(color, "w", tf.string),
            lambda: fc.weighted_categorical_column(
                fc.weighted_categorical_column(color, "w"), "w"
            ).parse_example_spec,
            lambda: cross(["a", "b"], 0),
            lambda: cross(["a", "b"], None),
            lambda: cross(["a"], 3),
            lambda: cross([], 3),
            lambda: cross(["a", 3], 3),
            lambda: cross(["a", price], 3),
            lambda: cross(["a", color], 3),
            lambda: embed(ids, 0),
            lambda: embed(ids, None),
            lambda: embed(ids, 2, initializer=3),
            lambda: embed(ids, 2, ckpt_to_load_from="a"),
            lambda: embed(ids, 2, tensor_name_in_ckpt="a"),
            lambda: share([ids], 0),
            lambda: share([ids], 2, initializer=3),
            lambda: share([ids], 2, ckpt_to_load_from="a"),
            lambda: share([ids, color], 2),
            lambda: share([ids, fc.categorical_column_with_identity("b", 4)], 2),
            lambda: fc.sequence_numeric_column("a", 0),
            lambda: fc.sequence_numeric_column("a", dtype=tf.string),
            lambda: fc.sequence_numeric_column("a", normalizer_fn=3),
            lambda: fc.make_parse_example_spec(["a"]),
            lambda: fc.make_parse_example_spec([price, fc.numeric_column("price", dtype=tf.int32)]),
            lambda: fc.make_parse_example_spec([price, fc.bucketized_column(price, [1]), color]),
        )
    ]


def wrong_features(tf):
    fc = tf.feature_column
    price, color = fc.numeric_column("price"), fc.categorical_column_with_hash_bucket("color", 10)
    ids, words = (
        fc.categorical_column_with_identity("ids", 3),
        fc.categorical_column_with_vocabulary_list("words", ["a"]),
    )
    one, text, sparse = [[1.0]], [["a"]], tf.SparseTensor([[0, 0]], ["a"], [1, 1])
    indicator, steps = fc.indicator_column, fc.sequence_categorical_column_with_identity("ids", 3)
    weighted, crossed = (
        fc.weighted_categorical_column(ids, "w"),
        fc.crossed_column(["a", fc.weighted_categorical_column(ids, "w")], 3),
    )
    sequence_layer = tf.contrib.feature_column.sequence_input_layer
    named = fc.shared_embedding_columns([ids], 2, shared_embedding_collection_name="both")
    tf.add_to_collection("both", tf.get_variable("other", [4, 2]))

    def layer(features, *columns):
        return lambda: fc.input_layer(features, list(columns))

    def model(features, *columns):
        return lambda: fc.linear_model(features, list(columns))

    return [
        _caught(function)
        for function in (
            layer({}, price),
            layer({"price": 1.0}, price),
            layer({"price": sparse}, price),
            layer({"price": one}, color),
            layer({"price": one}),
            lambda: fc.input_layer({}, {"a": price}),
            layer({"price": one}, "price"),
            layer({"price": one}, price, price),
            layer({"price": one, "b": [[1.0], [2.0]]}, price, fc.numeric_column("b")),
            layer({"color": one}, indicator(color)),
            layer({"ids": text}, indicator(ids)),
            layer({"ids": one}, indicator(ids)),
            layer({"words": [[1]]}, indicator(words)),
            layer({"color": [[1]]}, indicator(color)),
            model({"ids": [[1]], "w": [[1]]}, weighted),
            model({"ids": [[1]]}, weighted),
            model({"ids": [[1]], "w": one, "a": text}, crossed),
            model({"price": one}),
            model({"price": one}, "price"),
            model({"price": one}, price, price),
            layer({"ids": [[1]]}, indicator(steps)),
            layer({"ids": [[1]]}, fc.embedding_column(steps, 2)),
            layer({"ids": [[1]]}, *named),
            lambda: sequence_layer({"ids": [[1]]}, [indicator(ids)]),
            lambda: sequence_layer({"ids": [[1]]}, [fc.embedding_column(ids, 2)]),
            lambda: sequence_layer({"ids": [[1]]}, [price]),
        )
    ]


def wrong_numbers(tf):
    """What is wrong only when a model runs."""
    ids = tf.feature_column.categorical_column_with_identity("ids", 3)
    fed = tf.placeholder(tf.int64, [None, 1])
    layer = tf.feature_column.input_layer({"ids": fed}, [tf.feature_column.indicator_column(ids)])
    found = []
    with tf.Session() as session:
        for number in (3, -2):
            try:
                session.run(layer, {fed: [[number]]})
            except tf.errors.InvalidArgumentError as error:
                found.append(re.sub(r"\s+", " ", error.message.split("\n\t")[0]).split(" [Condition")[0])
    return found


def outcomes(tf):
    """{name: what comes of it}."""
    cases = {
        name: function
        for name, function in globals().items()
        if getattr(function, "__code__", None)
        and function.__code__.co_varnames[:1] == ("tf",)
        and not name.startswith("_")
    }
    found = {}
    for name, function in sorted(cases.items()):
        if name != "outcomes":
            with tf.Graph().as_default():
                found[name] = function(tf)
    return found

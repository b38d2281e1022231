"""tf.estimator's ready-made models: the graphs that they train, evaluate and predict in, and losses step by step."""

from programs.snippets.feature_columns import _unknown
from programs.snippets.lookup_tables import _counted_names

COLORS = [["red"], ["green"], ["blue"], ["black"], ["red"], ["red"]]


def _features(tf):
    features = {
        "price": tf.constant([[0.5], [3.0], [-1.5], [2.0], [7.0], [0.25]]),
        "color": tf.constant(COLORS),
        "pair": tf.constant([[1.0, 2.0], [0.5, -1.0], [0.0, 3.0], [-2.0, 1.0], [1.5, 0.5], [4.0, 2.0]]),
        "weight": tf.constant([1.0, 2.0, 0.5, 0.0, 1.0, 3.0]),
    }
    return {name: _unknown(tf, feature) for name, feature in sorted(features.items())}


def _columns(tf):
    fc = tf.feature_column
    price = fc.numeric_column("price")
    color = fc.categorical_column_with_vocabulary_list("color", ["red", "green", "blue"])
    buckets = fc.bucketized_column(price, [0.0, 2.5])
    wide = [price, color, buckets, fc.crossed_column([buckets, "color"], 7)]
    return wide, [price, fc.numeric_column("pair", shape=2), fc.embedding_column(color, 3)]


def _spec(tf, estimator, mode, labels=None):
    tf.set_random_seed(7)
    tf.train.get_or_create_global_step()
    with _counted_names():
        return estimator.model_fn(_features(tf), labels, mode, estimator.config)


def _trained(tf, estimator, labels, steps=3):
    """The losses of some steps."""
    spec = _spec(tf, estimator, "train", labels)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    with tf.control_dependencies([spec.train_op]):
        done = tf.constant(1)
    return ([ready], *[[spec.loss, done]] * steps)


def _evaluated(tf, estimator, labels):
    spec = _spec(tf, estimator, "eval", labels)
    names = sorted(spec.eval_metric_ops)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    with tf.control_dependencies([spec.eval_metric_ops[name][1] for name in names]):
        done = tf.constant(1)
    return [ready], [spec.loss, done], [spec.eval_metric_ops[name][0] for name in names]


def _predicted(tf, estimator):
    spec = _spec(tf, estimator, "infer")
    assert sorted(spec.export_outputs)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    return [ready], [spec.predictions[name] for name in sorted(spec.predictions)]


def _numbers(tf):
    return tf.constant([[0.5], [1.0], [-2.0], [3.0], [0.0], [1.5]])


def _bits(tf):
    return tf.constant([[0], [1], [1], [0], [1], [0]])


def baseline_classifier(tf):
    return _trained(
        tf,
        tf.estimator.BaselineClassifier(n_classes=3, weight_column="weight"),
        tf.constant([[0], [1], [2], [0], [1], [1]]),
    )


def baseline_regressor(tf):
    return _evaluated(tf, tf.estimator.BaselineRegressor(), _numbers(tf))


def linear_classifier(tf):
    return _trained(tf, tf.estimator.LinearClassifier(_columns(tf)[0]), _bits(tf))


def linear_classifier_with_weights_evaluated(tf):
    estimator = tf.estimator.LinearClassifier(_columns(tf)[0], weight_column="weight", optimizer="SGD")
    return _evaluated(tf, estimator, _bits(tf))


def linear_classifier_of_names(tf):
    estimator = tf.estimator.LinearClassifier(_columns(tf)[0], n_classes=3, label_vocabulary=["a", "b", "c"])
    return _trained(tf, estimator, tf.constant([["a"], ["b"], ["c"], ["c"], ["a"], ["b"]]))


def linear_classifier_of_names_predicted(tf):
    estimator = tf.estimator.LinearClassifier(_columns(tf)[0], label_vocabulary=["a", "b"])
    return _predicted(tf, estimator)


def linear_regressor(tf):
    estimator = tf.estimator.LinearRegressor(
        _columns(tf)[0], label_dimension=2, optimizer=lambda: tf.train.AdamOptimizer(0.1), sparse_combiner="mean",
        loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE,
    )  # fmt: skip
    return _trained(tf, estimator, tf.concat([_numbers(tf), 1 - _numbers(tf)], 1))


def dnn_classifier(tf):
    return _trained(tf, tf.estimator.DNNClassifier([4, 3], _columns(tf)[1]), _bits(tf))


def dnn_classifier_with_dropout_and_normalization(tf):
    estimator = tf.estimator.DNNClassifier(
        [4, 3], _columns(tf)[1], n_classes=3, dropout=0.5, batch_norm=True, optimizer="RMSProp", activation_fn=tf.tanh
    )
    return _trained(tf, estimator, tf.constant([[0], [1], [2], [0], [1], [1]]))


def dnn_classifier_with_dropout_evaluated(tf):
    estimator = tf.estimator.DNNClassifier([4], _columns(tf)[1], n_classes=3, dropout=0.5, batch_norm=True)
    return _evaluated(tf, estimator, tf.constant([[0], [1], [2], [0], [1], [1]]))


def dnn_regressor_predicted(tf):
    return _predicted(tf, tf.estimator.DNNRegressor([4], _columns(tf)[1], weight_column="weight"))


def wide_and_deep_classifier(tf):
    wide, deep = _columns(tf)
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4, 2], weight_column="weight"
    )
    return _trained(tf, estimator, _bits(tf))


def wide_and_deep_regressor(tf):
    wide, deep = _columns(tf)
    estimator = tf.estimator.DNNLinearCombinedRegressor(
        linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[4], dnn_optimizer="Adam"
    )
    return _trained(tf, estimator, _numbers(tf))


def only_deep_of_a_combined_model(tf):
    estimator = tf.estimator.DNNLinearCombinedClassifier(
        dnn_feature_columns=_columns(tf)[1], dnn_hidden_units=[4], n_classes=3
    )
    return _predicted(tf, estimator)

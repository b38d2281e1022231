"""tf.estimator's heads: the graphs that they make of logits, losses and metrics of tf.keras."""

from programs.snippets.contrib_estimator_heads import _inputs
from programs.snippets.feature_columns import _unknown
from programs.snippets.lookup_tables import _counted_names


def _spec(tf, head, mode, labels, **more):
    features, logits = _inputs(tf, head.logits_dimension)
    tf.train.get_or_create_global_step()
    with _counted_names():
        return head.create_estimator_spec(features, mode, logits, labels, **more)


def _evaluated(tf, head, labels, **more):
    spec = _spec(tf, head, "eval", labels, **more)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    names = sorted(spec.eval_metric_ops)
    with tf.control_dependencies([spec.eval_metric_ops[name][1] for name in names]):
        done = tf.constant(1)
    return [ready], [spec.loss, done], [spec.eval_metric_ops[name][0] for name in names]


def binary_with_thresholds(tf):
    head = tf.estimator.BinaryClassHead("weight", [0.25, 0.5], name="clicked")
    return _evaluated(
        tf, head, tf.constant([1, 0, 0, 1]), regularization_losses=[tf.constant(0.5), tf.constant(0.25)]
    )


def binary_of_names_predicted(tf):
    spec = _spec(tf, tf.estimator.BinaryClassHead(label_vocabulary=["no", "yes"]), "infer", None)
    assert sorted(spec.export_outputs) == ["classification", "predict", "regression", "serving_default"]
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    return [ready], [spec.predictions[key] for key in sorted(spec.predictions)]


def multi_class(tf):
    def loss_fn(labels, logits, features):
        return tf.reduce_sum(tf.abs(logits - tf.cast(labels, tf.float32)), 1, keepdims=True) * features["weight"]

    head = tf.estimator.MultiClassHead(3, loss_fn=loss_fn, loss_reduction="sum")
    return _evaluated(tf, head, _unknown(tf, tf.constant([[0], [2], [1], [1]])))


def poisson(tf):
    labels = tf.constant([[1.0, 2], [0, 4], [3, 1], [2, 2]])
    return _evaluated(tf, tf.estimator.PoissonRegressionHead(2, "weight"), labels)


def logistic(tf):
    return _evaluated(tf, tf.estimator.LogisticRegressionHead("weight"), tf.constant([[0.5], [0.25], [1.0], [0.0]]))


def multi_label(tf):
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], ["a", "c", "b", "c"], [4, 2])
    head = tf.estimator.MultiLabelHead(
        3, "weight", [0.5], ["a", "b", "c"], classes_for_class_based_metrics=["b"], name="tags"
    )
    return _evaluated(tf, head, labels)


def several_heads(tf):
    heads = [tf.estimator.RegressionHead(name="size"), tf.estimator.MultiLabelHead(2, name="tags")]
    labels = {"size": tf.constant([1.0, 2.0, 0.5, -1.0]), "tags": tf.constant([[0, 1], [1, 1], [0, 0], [1, 0]])}
    return _evaluated(tf, tf.estimator.MultiHead(heads, [1.0, 0.5]), labels)


def trained_by_an_optimizer_of_keras(tf):
    weights = tf.get_variable("weights", [3], initializer=tf.ones_initializer(), use_resource=True)
    step = tf.train.get_or_create_global_step()
    head = tf.estimator.MultiClassHead(3)
    _, logits = _inputs(tf, 3)
    optimizer = tf.keras.optimizers.SGD(0.5)
    optimizer.iterations = step
    spec = head.create_estimator_spec(
        {}, "train", logits * weights, tf.constant([[0], [2], [1], [1]]), optimizer=optimizer,
        trainable_variables=[weights],
    )  # fmt: skip
    with tf.control_dependencies([spec.train_op]):
        done = tf.constant(1)
    return [spec.loss, done], [spec.loss]

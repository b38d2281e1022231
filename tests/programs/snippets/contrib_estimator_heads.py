"""tf.contrib.estimator: the graphs that heads make of logits, losses and metrics."""

from programs.snippets.feature_columns import _unknown
from programs.snippets.lookup_tables import _counted_names

LOGITS = [[0.5, -1.0, 2.0], [1.5, 0.25, -0.5], [-2.0, 3.0, 0.0], [0.0, 1.0, -1.0]]


def _inputs(tf, count):
    logits = _unknown(tf, tf.constant(LOGITS))[:, :count]
    return {"weight": _unknown(tf, tf.constant([[1.0], [0.5], [2.0], [0.0]]))}, logits


def _made(tf, head, labels, mode="eval", **more):
    features, logits = _inputs(tf, head.logits_dimension)
    tf.train.get_or_create_global_step()
    with _counted_names():
        spec = head.create_estimator_spec(features, mode, logits, labels, **more)
    with tf.control_dependencies([tf.tables_initializer()]):
        ready = tf.constant(1)
    names = sorted(spec.eval_metric_ops)
    updates = [spec.eval_metric_ops[name][1] for name in names]
    return [ready], [spec.loss] + updates, [spec.eval_metric_ops[name][0] for name in names]


def binary_with_thresholds(tf):
    head = tf.contrib.estimator.binary_classification_head("weight", [0.25, 0.5], name="clicked")
    return _made(tf, head, tf.constant([1, 0, 0, 1]), regularization_losses=[tf.constant(0.5), tf.constant(0.25)])


def multi_class_with_a_loss_of_its_own(tf):
    def loss_fn(labels, logits, features):
        return tf.reduce_sum(tf.abs(logits - tf.cast(labels, tf.float32)), 1, keepdims=True) * features["weight"]

    head = tf.contrib.estimator.multi_class_head(3, loss_fn=loss_fn)
    return _made(tf, head, _unknown(tf, tf.constant([[0], [2], [1], [1]])))


def poisson(tf):
    return _made(
        tf, tf.contrib.estimator.poisson_regression_head("weight", 2), tf.constant([[1.0, 2], [0, 4], [3, 1], [2, 2]])
    )


def logistic(tf):
    head = tf.contrib.estimator.logistic_regression_head("weight")
    return _made(tf, head, tf.constant([[0.5], [0.25], [1.0], [0.0]]))


def multi_label(tf):
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], ["a", "c", "b", "c"], [4, 2])
    head = tf.contrib.estimator.multi_label_head(
        3, "weight", [0.5], ["a", "b", "c"], classes_for_class_based_metrics=["b"], name="tags"
    )
    return _made(tf, head, labels)


def multi_label_of_numbers(tf):
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 0]], tf.constant([0, 2, 1, 2], tf.int64), [4, 2])
    return _made(tf, tf.contrib.estimator.multi_label_head(3, classes_for_class_based_metrics=[2]), labels)


def several_heads(tf):
    heads = [
        tf.contrib.estimator.regression_head(name="size"),
        tf.contrib.estimator.multi_label_head(2, name="tags"),
    ]
    labels = {"size": tf.constant([1.0, 2.0, 0.5, -1.0]), "tags": tf.constant([[0, 1], [1, 1], [0, 0], [1, 0]])}
    return _made(tf, tf.contrib.estimator.multi_head(heads, [1.0, 0.5]), labels)


def several_heads_trained_with_clipped_gradients(tf):
    heads = [tf.contrib.estimator.regression_head(name="a"), tf.contrib.estimator.multi_label_head(2, name="b")]
    labels = {"a": tf.constant([1.0, 2.0, 0.5, -1.0]), "b": tf.constant([[0, 1], [1, 1], [0, 0], [1, 0]])}
    tf.train.get_or_create_global_step()
    logits = tf.constant(LOGITS) * tf.get_variable("weights", [3], initializer=tf.ones_initializer())
    optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.GradientDescentOptimizer(0.5), 0.125)
    spec = tf.contrib.estimator.multi_head(heads).create_estimator_spec(
        {}, "train", logits, labels, optimizer=optimizer
    )
    with tf.control_dependencies([spec.train_op]):
        done = tf.constant(1)
    return [spec.loss, done], [spec.loss]

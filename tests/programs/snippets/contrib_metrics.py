"""tf.contrib.metrics: values before and after two updates, and what is computed from them."""

import numpy as np


def _given(tf):
    values = np.abs(np.sin(np.arange(12) * 1.3)).astype(np.float32)
    predictions = tf.constant(values.reshape(6, 2), name="predictions")
    labels = tf.constant(np.cos(np.arange(12) * 2.1).reshape(6, 2) > 0, name="labels")
    return predictions, labels, tf.constant([[1.0], [0.5], [2.0], [0.0], [1.0], [3.0]])


def _runs(*pairs):
    """Updates, then values, twice."""
    values = [value for value, _ in pairs]
    updates = [update for _, update in pairs]
    return updates, values, updates, values


def _done(tf, *operations):
    """Tensors that are there after operations."""
    found = []
    for operation in operations:
        with tf.control_dependencies([operation]):
            found.append(tf.identity(tf.zeros([])))
    return found


def error_rates(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    chosen = predictions > 0.5
    return _runs(
        m.streaming_false_positive_rate(chosen, labels, metrics_collections=["m"]),
        m.streaming_false_negative_rate(chosen, labels, weights),
        m.streaming_false_positive_rate_at_thresholds(predictions, labels, [0.2, 0.7], weights),
        m.streaming_false_negative_rate_at_thresholds(predictions, labels, [0.2, 0.7]),
        m.streaming_true_positives_at_thresholds(predictions, labels, [0.3]),
        m.streaming_false_positives_at_thresholds(predictions, labels, [0.3], weights),
        m.streaming_true_negatives_at_thresholds(predictions, labels, [0.3, 0.4]),
        m.streaming_false_negatives_at_thresholds(predictions, labels, [0.3]),
    )


def curves(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    points, _ = m.streaming_curve_points(labels, predictions, num_thresholds=5, curve="PR")
    more, _ = m.streaming_curve_points(labels, predictions, weights, num_thresholds=4, name="roc")
    pairs = [
        m.f1_score(labels, predictions, num_thresholds=7),
        m.recall_at_precision(labels, predictions, 0.6, num_thresholds=9),
        m.recall_at_precision(labels, predictions, 0.99, num_thresholds=9, strict_mode=True),
        m.precision_at_recall(labels, predictions, 0.7, weights, num_thresholds=9),
    ]
    return (*_runs(*pairs), [points, more])


def moments(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    values = tf.sin(predictions * 7.0)
    unit = tf.nn.l2_normalize(predictions, 1)
    return _runs(
        m.streaming_covariance(predictions, values),
        m.streaming_covariance(predictions, values, weights, name="weighted"),
        m.streaming_pearson_correlation(predictions, values, weights),
        m.streaming_mean_cosine_distance(unit, tf.nn.l2_normalize(values, 1), 1),
        m.count(predictions),
        m.count(predictions, weights, updates_collections="u"),
    )


def switched(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    chosen = predictions > 0.5
    classes = tf.constant([0, 1, 1, 0, 1, 0], tf.int64)
    return _runs(
        m.streaming_accuracy(chosen, labels),
        m.streaming_precision(chosen, labels, weights),
        m.streaming_recall(chosen, labels, name="named"),
        m.streaming_true_positives(chosen, labels),
        m.streaming_false_negatives(chosen, labels),
        m.streaming_mean(predictions, weights),
        m.streaming_mean_tensor(predictions),
        m.streaming_mean_absolute_error(predictions, tf.ones([6, 2])),
        m.streaming_mean_relative_error(predictions, tf.ones([6, 2]), tf.ones([6, 2]) * 2.0),
        m.streaming_mean_iou(tf.cast(chosen, tf.int64), tf.cast(labels, tf.int64), 2),
        m.streaming_percentage_less(predictions, 0.4),
        m.streaming_auc(predictions, labels, num_thresholds=6),
        m.streaming_sensitivity_at_specificity(predictions, labels, 0.6, num_thresholds=6),
        m.streaming_specificity_at_sensitivity(predictions, labels, 0.6, num_thresholds=6),
        m.streaming_precision_at_thresholds(predictions, labels, [0.3, 0.6]),
        m.streaming_recall_at_k(predictions, classes, 1),
    )


def best_k(tf):
    m = tf.contrib.metrics
    scores = tf.constant([[0.1, 0.4, 0.2, 0.3], [0.5, 0.1, 0.3, 0.1]])
    labels = tf.constant([[3, 1], [2, 0]], tf.int64)
    best = tf.nn.top_k(scores, 2)[1]
    top = tf.cast(best, tf.int64)
    return _runs(
        m.streaming_sparse_recall_at_k(scores, labels, 2),
        m.streaming_sparse_precision_at_k(scores, labels, 2, class_id=1),
        m.streaming_sparse_precision_at_top_k(top, labels),
        m.sparse_recall_at_top_k(labels, top, class_id=2),
        m.streaming_sparse_average_precision_at_k(scores, labels, 2),
        m.streaming_sparse_average_precision_at_top_k(best, labels),
    )


def classes(tf):
    m = tf.contrib.metrics
    labels = tf.constant([0, 1, 2, 2, 1, 0])
    predictions = tf.constant([0, 1, 1, 2, 1, 2])
    weights = tf.constant([1.0, 0.5, 2.0, 1.0, 1.0, 0.25])
    pairs = [
        m.cohen_kappa(labels, predictions, 3),
        m.cohen_kappa(tf.expand_dims(labels, 1), tf.expand_dims(predictions, 1), 3, weights, name="weighted"),
    ]
    single = [
        m.accuracy(predictions, labels),
        m.accuracy(predictions, labels, weights),
        m.confusion_matrix(labels, predictions, 3, tf.int64, weights=tf.cast(weights * 4, tf.int64)),
    ]
    return (*_runs(*pairs), single)


def histograms(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    tf.set_random_seed(1)
    flat, flat_labels = tf.reshape(predictions, [-1]), tf.reshape(labels, [-1])
    area, update = m.auc_using_histogram(flat_labels, flat, [0.0, 1.0], nbins=8)
    found, other = m.precision_recall_at_equal_thresholds(labels, predictions, weights, num_thresholds=5)
    done = _done(tf, update, other)
    return done, [area, *found], done, [area, *found]


def concatenation(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    value, update = m.streaming_concat(predictions)
    limited, more = m.streaming_concat(predictions, axis=1, max_size=3, name="limited")
    return [update, more], [value, limited], [update, more], [value, limited]


def exact_areas(tf):
    predictions, labels, weights = _given(tf)
    m = tf.contrib.metrics
    roc, first = m.streaming_dynamic_auc(labels, predictions)
    weights = tf.ones([6, 2]) * weights
    pr, second = m.streaming_dynamic_auc(labels, predictions, curve="PR", weights=weights, name="pr")
    done = _done(tf, first, second)
    return [roc, pr], done, [roc, pr], done, [roc, pr]


def aggregated(tf):
    predictions, labels, _ = _given(tf)
    m = tf.contrib.metrics
    values, updates = m.aggregate_metrics(m.streaming_mean(predictions), m.count(predictions))
    mapped, more = m.aggregate_metric_map({"a": m.streaming_mean(predictions)})
    return [*updates, more["a"]], [*values, mapped["a"]]

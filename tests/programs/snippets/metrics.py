"""tf.metrics: variables, values and updates over two batches. Each batch is one run."""

import numpy as np

_LABELS = np.array([[0, 1, 1, 0], [1, 0, 1, 1]])
_PREDICTIONS = np.array([[0.1, 0.7, 0.2, 0.6], [0.9, 0.5, 0.8, 0.0]], np.float32)
_WEIGHTS = [None, 0.5, [[1.0], [2.0]], [[0.0, 1.0, 3.0, 0.5]]]


def _runs(*metrics):
    """The updates, what they have led to, the updates again, and that."""
    values, updates = [value for value, _ in metrics], [update for _, update in metrics]
    return updates, values, updates, values


def _inputs(tf, labels_type=None):
    labels = tf.constant(_LABELS, labels_type or tf.int32, name="labels")
    return labels, tf.constant(_PREDICTIONS, name="predictions")


def _listed(tf, *names):
    graph = tf.get_default_graph()
    return [tf.constant([item.name for item in graph.get_collection(name)], tf.string) for name in names]


def mean(tf):
    _, predictions = _inputs(tf)
    metrics = [tf.metrics.mean(predictions, weights) for weights in _WEIGHTS]
    metrics.append(tf.metrics.mean([1, 2, 6], name="whole"))
    metrics.append(tf.metrics.mean(predictions, 0.0))
    return _runs(*metrics)


def mean_tensor(tf):
    _, predictions = _inputs(tf)
    return _runs(*[tf.metrics.mean_tensor(predictions, weights) for weights in _WEIGHTS])


def accuracy(tf):
    labels, predictions = _inputs(tf)
    rounded = tf.round(predictions)
    return _runs(
        tf.metrics.accuracy(labels, rounded),
        tf.metrics.accuracy(labels, tf.expand_dims(rounded, -1), [[1.0], [2.0]], name="named"),
        tf.metrics.accuracy(tf.constant(["a", "b"]), tf.constant(["a", "c"])),
    )


def errors(tf):
    labels, predictions = _inputs(tf, tf.float32)
    results = []
    for weights in (None, [[1.0], [2.0]]):
        results += [
            tf.metrics.mean_absolute_error(labels, predictions, weights),
            tf.metrics.mean_squared_error(labels, predictions, weights),
            tf.metrics.root_mean_squared_error(labels, predictions, weights),
            tf.metrics.mean_relative_error(labels, predictions, labels, weights),
        ]
    results += [
        tf.metrics.mean_cosine_distance(labels, predictions, 1),
        tf.metrics.percentage_below(predictions, 0.5),
        tf.metrics.percentage_below(predictions, 0.5, [[1.0], [2.0]], name="below"),
    ]
    return _runs(*results)


def counts(tf):
    labels, predictions = _inputs(tf)
    predictions = predictions > 0.4
    results = []
    for weights in (None, 0.5, [[1.0], [2.0]]):
        results += [
            metric(labels, predictions, weights)
            for metric in (
                tf.metrics.true_positives, tf.metrics.true_negatives, tf.metrics.false_positives,
                tf.metrics.false_negatives, tf.metrics.precision, tf.metrics.recall,
            )
        ]  # fmt: skip
    return _runs(*results)


def counts_at_thresholds(tf):
    labels, predictions = _inputs(tf)
    results = []
    for weights in (None, [[1.0], [2.0]]):
        results += [
            metric(labels, predictions, [0.15, 0.5, 0.85], weights)
            for metric in (
                tf.metrics.true_positives_at_thresholds, tf.metrics.true_negatives_at_thresholds,
                tf.metrics.false_positives_at_thresholds, tf.metrics.false_negatives_at_thresholds,
                tf.metrics.precision_at_thresholds, tf.metrics.recall_at_thresholds,
            )
        ]  # fmt: skip
    return _runs(*results)


def auc(tf):
    labels, predictions = _inputs(tf)
    return _runs(
        tf.metrics.auc(labels, predictions),
        tf.metrics.auc(labels, predictions, [[1.0], [2.0]], num_thresholds=7, name="named"),
        tf.metrics.auc(labels, predictions, num_thresholds=7, curve="PR"),
        tf.metrics.auc(labels, predictions, num_thresholds=7, curve="PR", summation_method="careful_interpolation"),
        tf.metrics.auc(labels, predictions, num_thresholds=7, curve="PR", summation_method="minoring"),
        tf.metrics.auc(labels, predictions, num_thresholds=7, summation_method="majoring"),
        tf.metrics.auc(labels, predictions, thresholds=[0.7, 0.3], summation_method="careful_interpolation"),
    )


def rates_at_rates(tf):
    labels, predictions = _inputs(tf)
    return _runs(
        tf.metrics.sensitivity_at_specificity(labels, predictions, 0.6, num_thresholds=5),
        tf.metrics.specificity_at_sensitivity(labels, predictions, 0.6, num_thresholds=5),
        tf.metrics.specificity_at_sensitivity(labels, predictions, 0.9, [[1.0], [2.0]], num_thresholds=9),
    )


def class_means(tf):
    labels = tf.constant([[0, 1], [2, 2]])
    predictions = tf.constant([[0, 2], [2, 1]], tf.int64)
    weights = tf.constant([[1.0, 2.0], [0.5, 1.0]])
    return _runs(
        tf.metrics.mean_per_class_accuracy(labels, predictions, 4),
        tf.metrics.mean_per_class_accuracy(labels, predictions, 3, weights),
        tf.metrics.mean_iou(labels, predictions, 4),
        tf.metrics.mean_iou(labels, predictions, 3, weights),
    )


def _rankings(tf):
    predictions = tf.constant([[0.1, 0.6, 0.2, 0.0, 0.3], [0.4, 0.1, 0.2, 0.5, 0.3], [0.9, 0.3, 0.6, 0.7, 0.0]])
    dense = tf.constant([[1, 4], [0, 2], [1, 4]], tf.int64)
    sparse = tf.SparseTensor([[0, 0], [1, 0], [1, 1], [2, 0]], tf.constant([4, 0, 3, 1], tf.int64), [3, 2])
    return predictions, dense, sparse


def recall_at_k(tf):
    predictions, dense, sparse = _rankings(tf)
    return _runs(
        tf.metrics.recall_at_k(dense, predictions, 2),
        tf.metrics.recall_at_k(sparse, predictions, 2),
        tf.metrics.recall_at_k(tf.constant([1, 2, 0], tf.int64), predictions, 1),
        tf.metrics.recall_at_k(dense, predictions, 3, class_id=4),
        tf.metrics.recall_at_k(sparse, predictions, 3, class_id=4, weights=[0.5, 1.0, 2.0], name="named"),
        tf.metrics.recall_at_top_k(dense, tf.constant([[1, 2], [0, 3], [1, 2]])),
    )


def precision_at_k(tf):
    predictions, dense, sparse = _rankings(tf)
    return _runs(
        tf.metrics.precision_at_k(dense, predictions, 2),
        tf.metrics.precision_at_k(sparse, predictions, 2, weights=[0.5, 1.0, 2.0]),
        tf.metrics.precision_at_k(dense, predictions, 3, class_id=1),
        tf.metrics.sparse_precision_at_k(dense, predictions, 3),
        tf.metrics.precision_at_top_k(sparse, tf.constant([[1, 2], [0, 3], [1, 2]]), k=2),
    )


def average_precision_at_k(tf):
    predictions, dense, sparse = _rankings(tf)
    return _runs(
        tf.metrics.average_precision_at_k(dense, predictions, 3),
        tf.metrics.average_precision_at_k(dense, predictions, 1),
        tf.metrics.average_precision_at_k(sparse, predictions, 3),
        tf.metrics.average_precision_at_k(sparse, predictions, 2, weights=[0.5, 1.0, 2.0]),
        tf.metrics.sparse_average_precision_at_k(dense + 2, predictions, 2, name="with_unknown"),
    )


def rankings_of_unknown_rank(tf):
    predictions, dense, _ = _rankings(tf)
    labels = tf.placeholder_with_default(dense, None)
    return _runs(tf.metrics.recall_at_k(labels, tf.placeholder_with_default(predictions, [None, 5]), 2))


def of_unknown_ranks(tf):
    labels, predictions = _inputs(tf, tf.float32)
    labels, predictions = (tf.placeholder_with_default(tensor, None) for tensor in (labels, predictions))
    weights = tf.placeholder_with_default([[1.0], [2.0]], None)
    return _runs(
        tf.metrics.mean_squared_error(labels, predictions, weights),
        tf.metrics.mean(predictions, tf.placeholder_with_default([[1.0], [2.0]], [None, 1])),
    )


def of_unknown_sizes(tf):
    labels = tf.placeholder_with_default(_LABELS, [None, 4])
    predictions = tf.placeholder_with_default(_PREDICTIONS, [None, 4])
    return _runs(
        tf.metrics.accuracy(labels, predictions),
        tf.metrics.auc(labels, predictions, num_thresholds=4),
        tf.metrics.recall(labels, predictions > 0.5, tf.placeholder_with_default([[1.0], [2.0]], [None, 1])),
    )


def collections(tf):
    labels, predictions = _inputs(tf)
    with tf.variable_scope("outer"):
        tf.metrics.accuracy(labels, labels, metrics_collections=["a", "b"], updates_collections="a")
        tf.metrics.accuracy(labels, labels, metrics_collections="a")
    tf.metrics.auc(labels, predictions, num_thresholds=3, metrics_collections="a", updates_collections="b")
    tf.metrics.recall(labels, labels, metrics_collections="a", updates_collections="b")
    tf.metrics.true_positives(labels, labels, metrics_collections="a", updates_collections="b")
    return _listed(tf, "a", "b", "variables", "local_variables", "metric_variables")


def of_resource_variables(tf):
    labels, predictions = _inputs(tf)
    with tf.variable_scope("scope", use_resource=True):
        return _runs(
            tf.metrics.mean(predictions),
            tf.metrics.auc(labels, predictions, num_thresholds=4),
            tf.metrics.recall_at_k(tf.cast(labels[:, 0:1], tf.int64), predictions, 2),
        )

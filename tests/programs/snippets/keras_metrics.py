"""Metrics of tf.keras that count: updates and results."""

import numpy as np

TRUE = (np.arange(12).reshape(4, 3) % 5 < 2).astype(np.float32)
PREDICTED = (np.arange(12).reshape(4, 3) * 7 % 12 / 12.0).astype(np.float32)
WEIGHTS = np.array([1.0, 0.5, 2.0, 0.0], np.float32)


def _of(tf, metrics, weights=None):
    """An update of each, then results of that and of another one."""
    updates = [metric.update_state(tf.constant(TRUE), tf.constant(PREDICTED), weights) for metric in metrics]
    with tf.control_dependencies(updates):
        first = [metric.result() for metric in metrics]
    for metric in metrics:
        for variable in metric.variables:
            tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, variable)
    return first, [metric.result() for metric in metrics]


def counts(tf):
    metrics = tf.keras.metrics
    return _of(
        tf,
        [
            metrics.TruePositives(), metrics.TrueNegatives(0.3), metrics.FalsePositives([0.2, 0.8]),
            metrics.FalseNegatives(thresholds=[0.5, 0.6]),
        ],
    )  # fmt: skip


def shares(tf):
    metrics = tf.keras.metrics
    return _of(
        tf,
        [
            metrics.Precision(), metrics.Recall([0.1, 0.5]), metrics.Precision(top_k=2), metrics.Recall(class_id=1),
            metrics.Precision(0.4, top_k=1, class_id=2),
        ],
    )  # fmt: skip


def curves(tf):
    metrics = tf.keras.metrics
    return _of(
        tf,
        [
            metrics.AUC(), metrics.AUC(5, "PR"), metrics.AUC(5, summation_method="minoring"),
            metrics.AUC(curve="pr", summation_method="Majoring", thresholds=[0.7, 0.2]),
            metrics.SensitivityAtSpecificity(0.6), metrics.SpecificityAtSensitivity(0.5, num_thresholds=3),
        ],
        tf.constant(WEIGHTS),
    )  # fmt: skip


def tensors(tf):
    iou = tf.keras.metrics.MeanIoU(3)
    update = iou.update_state(tf.constant([[0, 1], [2, 2]]), tf.constant([[0, 2], [2, 1]]))
    weighted = tf.keras.metrics.MeanIoU(2, "iou")
    other = weighted.update_state(tf.constant([0, 1, 1]), tf.constant([1, 1, 0]), tf.constant([0.5, 2.0, 1.0]))
    for metric in (iou, weighted):
        tf.add_to_collection(tf.GraphKeys.GLOBAL_VARIABLES, metric.variables[0])
    return [update, other], [iou.result(), weighted.result()]

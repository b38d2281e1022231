"""tf.metrics."""


def cases(tf):
    metrics = tf.metrics
    x = [[0.1, 0.2], [0.3, 0.4]]

    def of(function, *args, **kwargs):
        return lambda: function(*args, **kwargs)

    def ranked(labels, shape):
        return lambda: metrics.recall_at_top_k(tf.placeholder(tf.int64, labels), tf.placeholder(tf.int64, shape))

    return {
        "shapes": of(metrics.mean_squared_error, x, [0.1, 0.2, 0.3]),
        "shapes of accuracy": of(metrics.accuracy, x, [[0.1, 0.2, 0.3]]),
        "weights": of(metrics.mean, x, [1.0, 2.0, 3.0]),
        "rank of weights": of(metrics.mean, x, [[[[1.0]]]]),
        "curve": lambda: metrics.auc(x, tf.constant(x), curve="other"),
        "method": lambda: metrics.auc(x, tf.constant(x), summation_method="other"),
        "known to be above 1": lambda: metrics.auc(x, tf.constant([[2.0, 0.0], [0.0, 0.0]])),
        "specificity": of(metrics.sensitivity_at_specificity, x, x, -0.1),
        "sensitivity": of(metrics.specificity_at_sensitivity, x, x, 1.1),
        "k": of(metrics.average_precision_at_k, [[1]], x, 0),
        "ranks of labels": ranked([2, 3, 4], [2, 3]),
        "shapes of mean_iou": lambda: metrics.mean_iou(tf.constant([1, 2]), tf.constant([1, 2, 3]), 3),
        "shapes of classes": lambda: metrics.mean_per_class_accuracy(tf.constant([1, 2]), tf.constant([1, 2, 3]), 3),
        "shapes of normalizer": of(metrics.mean_relative_error, x, x, [1.0, 2.0, 3.0]),
    }

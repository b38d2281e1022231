"""tf.estimator's heads where operations run when they are called; the numbers are TensorFlow 1.15.5's."""

import pytest

import stillflow as tf


def results(metrics):
    return {key: float(metric.result().numpy()) for key, metric in metrics.items()}


def test_a_binary_head_counts_batches():
    head = tf.estimator.BinaryClassHead(thresholds=[0.5], weight_column="w")
    features, labels = {"w": tf.constant([[1.0], [2.0]])}, tf.constant([[1], [0]])
    logits = tf.constant([[0.5], [1.5]])
    assert float(head.loss(labels, logits, features)) == pytest.approx(1.9384518)
    assert head.predictions(logits, ["classes"])["classes"].numpy().tolist() == [[b"1"], [b"1"]]
    metrics = head.metrics()
    for _ in range(2):
        head.update_metrics(metrics, features, logits, labels)
    del metrics["accuracy_baseline"]
    expected = {
        "average_loss": 1.2923011779785156,
        "accuracy": 1 / 3,
        "precision": 1 / 3,
        "recall": 1.0,
        "prediction/mean": 0.7525360584259033,
        "label/mean": 1 / 3,
        "auc": 0.0,
        "auc_precision_recall": 0.18906980752944946,
        "accuracy/positive_threshold_0.5": 1 / 3,
        "precision/positive_threshold_0.5": 1 / 3,
        "recall/positive_threshold_0.5": 1.0,
    }
    assert results(metrics) == pytest.approx(expected, rel=2e-6)


def test_several_heads():
    heads = [
        tf.estimator.RegressionHead(name="a"),
        tf.estimator.MultiClassHead(3, name="b", label_vocabulary=["x", "y", "z"]),
    ]
    head = tf.estimator.MultiHead(heads)
    labels = {"a": tf.constant([[1.0], [2.0]]), "b": tf.constant([["x"], ["z"]])}
    logits = tf.constant([[1.0, 2, 3, 4], [2, 3, 1, 0]])
    assert float(head.loss(labels, logits, {})) == pytest.approx(2.7887259)
    found = head.update_metrics(head.metrics(), {}, logits, labels)
    expected = {
        "accuracy/b": 0.0,
        "average_loss/a": 0.0,
        "average_loss/b": 2.7887258529663086,
        "label/mean/a": 1.5,
        "loss/a": 0.0,
        "loss/b": 2.7887258529663086,
        "prediction/mean/a": 1.5,
    }
    assert results(found) == pytest.approx(expected, rel=2e-6)

"""tf.contrib.metrics.auc_with_confidence_intervals. Recorded values are those of TensorFlow 1.15.5."""

import numpy as np
import pytest

import stillflow as tf

auc_with_confidence_intervals = tf.contrib.metrics.auc_with_confidence_intervals


def test_intervals_over_three_batches():
    rng = np.random.RandomState(0)
    scores = rng.rand(3, 12).round(1).astype("f")
    labels = (rng.rand(3, 12) + scores > 1).astype("f")
    weights = rng.rand(3, 12).astype("f").round(2)
    given = [tf.placeholder(tf.float32, [12]) for _ in range(3)]
    weighted, update = auc_with_confidence_intervals(given[1], given[0], given[2])
    plain, other = auc_with_confidence_intervals(given[1], given[0], alpha=0.8, logit_transformation=False, name="x")
    expected = [
        [(0.65790343, 0.00227508, 0.99938369), (0.55555558, 0.23848101, 0.87263012)],
        [(0.71988088, 0.30478564, 0.93775147), (0.75555551, 0.61614168, 0.89496934)],
        [(0.70112872, 0.39977178, 0.89204204), (0.75387001, 0.65073144, 0.85700858)],
    ]
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch, values in zip(zip(scores, labels, weights, strict=True), expected, strict=True):
            feeds = dict(zip(given, batch, strict=True))
            session.run([update, other], feeds)
            found = session.run([weighted, plain], feeds)
            np.testing.assert_allclose(np.array([found[0], found[1]]), values, rtol=2e-4)
    assert weighted._fields == ("auc", "lower", "upper")


def test_labels_of_one_kind_have_no_area():
    area, update = auc_with_confidence_intervals(tf.ones([4]), tf.constant([0.1, 0.2, 0.3, 0.4]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert session.run(area) == (0.0, 0.0, 0.0)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1; currently 1.10"):
        auc_with_confidence_intervals(tf.ones([4]), tf.ones([4]), alpha=1.1)
    area, _ = auc_with_confidence_intervals(tf.constant([2.0, 0.0]), tf.ones([2]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be 0 or 1, at least one is >1"):
            session.run(area)

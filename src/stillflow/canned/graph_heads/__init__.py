"""Heads of TensorFlow 1's Estimators, whose metrics are those of tf.metrics."""

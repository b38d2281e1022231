"""tf.estimator's heads, whose metrics are those of tf.keras and whose optimizers, too."""

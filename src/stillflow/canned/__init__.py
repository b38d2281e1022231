"""tf.estimator's ready-made models: heads, which make losses and metrics of logits, and Estimators that have one."""

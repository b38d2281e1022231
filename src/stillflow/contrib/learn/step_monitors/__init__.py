"""Objects that an estimator of tf.contrib.learn asks before and after each step: what was there before hooks."""

"""Estimators of recurrent networks of tf.contrib.learn, and of models built by functions."""

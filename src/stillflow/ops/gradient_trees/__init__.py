"""Boosted trees of tf.contrib: ensembles, what they are grown by, and what they predict."""

"""Checkpoints: tf.train.Saver, its nodes and its files, and what reads them."""

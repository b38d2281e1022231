"""tf.train.Checkpoint: objects saved and restored by the names under which they depend on each other."""

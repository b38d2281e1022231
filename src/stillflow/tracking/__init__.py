"""Objects that know which other objects their state is in, by name: what tf.train.Checkpoint saves."""

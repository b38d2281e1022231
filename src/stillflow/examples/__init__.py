"""tf.examples: data that tutorials read."""

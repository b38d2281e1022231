"""What tf.test offers to programs that test themselves."""

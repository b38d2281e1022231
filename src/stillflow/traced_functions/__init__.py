"""tf.function: Python functions that are traced once for each kind of arguments, and called as functions of a graph."""

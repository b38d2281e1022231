"""tf.function: Python functions, traced for each kind of arguments and called as functions of a graph."""

"""tf.contrib.solvers: linear equations and least squares, by products with a matrix alone."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.solvers", __name__)

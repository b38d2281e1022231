"""Clusters and factors of matrices: k-means, WALS. Also the namespace tf.contrib.factorization."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.factorization", __name__)

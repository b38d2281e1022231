"""Copies of nodes and variables in another graph. Also the namespace tf.contrib.copy_graph."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.copy_graph", __name__)

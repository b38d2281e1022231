"""Nodes of a graph found, copied and connected anew. Also the namespace tf.contrib.graph_editor."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.graph_editor", __name__)

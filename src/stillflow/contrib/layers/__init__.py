"""Layers as functions that name their variables weights and biases, and what goes with them. Also a namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.layers", __name__)

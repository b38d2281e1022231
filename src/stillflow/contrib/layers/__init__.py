"""Layers as functions that name their variables weights and biases, and what goes with them. Also a namespace."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on("contrib.layers.feature_column", "contrib.layers.python.layers.feature_column")

__getattr__, __dir__ = serve("contrib.layers", __name__)

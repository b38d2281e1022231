"""Weights that are set to 0 while a model is trained. Also the namespace tf.contrib.model_pruning."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.model_pruning", __name__)

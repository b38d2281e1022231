"""Losses of before TensorFlow 1.0: predictions come first, weights are of elements of the batch. Also a namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.losses", __name__)

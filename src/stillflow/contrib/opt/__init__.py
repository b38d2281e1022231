"""Optimizers that TensorFlow 1 had in contrib. Also a namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.opt", __name__)

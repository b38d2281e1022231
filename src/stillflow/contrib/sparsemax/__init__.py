"""Sparsemax and its loss. Also the namespace tf.contrib.sparsemax."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.sparsemax", __name__)

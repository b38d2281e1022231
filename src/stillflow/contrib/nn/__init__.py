"""Losses and dropout. Also the namespace tf.contrib.nn."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.nn", __name__)

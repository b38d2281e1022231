"""Recurrent nets with structures of weights, inputs and states. Also the namespace tf.contrib.recurrent."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.recurrent", __name__)

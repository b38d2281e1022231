"""How much values change for each unit of another. Also the namespace tf.contrib.rate."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.rate", __name__)

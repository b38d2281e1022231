"""Metrics and networks of objects, from before Keras had them. Also the namespace tf.contrib.eager."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.eager", __name__)

"""Optimizers that scale the loss, and what the scale is. Also the namespace tf.contrib.mixed_precision."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.mixed_precision", __name__)

"""Metrics as they were before tf.metrics, and some more. Also the namespace tf.contrib.metrics."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.metrics", __name__)

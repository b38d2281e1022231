"""Metrics: what is counted over the batches of an evaluation, in local variables. Also the namespace tf.metrics."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("metrics", __name__)

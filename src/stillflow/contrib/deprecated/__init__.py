"""Summaries as programs before TensorFlow 1.0 wrote them. Also the namespace tf.contrib.deprecated."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.deprecated", __name__)

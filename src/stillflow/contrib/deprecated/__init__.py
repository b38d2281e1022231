"""Summaries as they were before tf.summary. Also the namespace tf.contrib.deprecated."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.deprecated", __name__)

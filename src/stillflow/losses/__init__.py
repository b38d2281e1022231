"""Losses: how far predictions are from labels, weighted, reduced and collected. Also the namespace tf.losses."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("losses", __name__)

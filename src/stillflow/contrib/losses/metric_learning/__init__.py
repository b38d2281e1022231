"""Losses of embeddings whose distances should say what belongs together. Also the namespace of that name."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.losses.metric_learning", __name__)

"""Vectors of words."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("examples.tutorials.word2vec", __name__)

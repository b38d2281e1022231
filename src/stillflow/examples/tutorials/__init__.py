"""Data that tutorials read."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("examples.tutorials", __name__)

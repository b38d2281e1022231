"""Ragged tensors: rows of different lengths, in everything that tensors are in."""

from stillflow.names.namespace import serve
from stillflow.ragged import handlers

__getattr__, __dir__ = serve("ragged", __name__)
del handlers

"""Seeds, and the streams that random operations take from them."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("random", __name__)

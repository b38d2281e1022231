"""Event files: what writes them, and the projector's configuration."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("summary", __name__)

"""Event files: what writes them, of FileWriters and of nodes; and the projector's configuration."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on("contrib.summary.summary", "contrib.summary")

__getattr__, __dir__ = serve("summary", __name__)

"""Training and running networks as if their numbers had few bits. Also the namespace tf.contrib.quantize."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.quantize", __name__)

"""Tables of values for keys, as they were before tf.lookup. Also the namespace tf.contrib.lookup."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.lookup", __name__)

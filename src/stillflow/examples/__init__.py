"""tf.examples: data that tutorials read."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("examples", __name__)

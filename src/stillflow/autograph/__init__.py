"""tf.autograph: Python's control flow, converted into that of graphs where it depends on tensors."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("autograph", __name__)

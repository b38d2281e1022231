"""tf.contrib.checkpoint: what checkpoints of objects can have besides variables. Also a namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.checkpoint", __name__)

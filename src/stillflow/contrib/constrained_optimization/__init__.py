"""tf.contrib.constrained_optimization: objectives that are minimized where functions are at most 0."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.constrained_optimization", __name__)

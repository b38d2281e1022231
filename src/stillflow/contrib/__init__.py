"""tf.contrib: libraries that TensorFlow 1 kept apart from its core. Also the namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib", __name__)

"""More distributions, and bijectors, of TensorFlow 1's contrib. Also the namespace tf.contrib.distributions."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.distributions", __name__)

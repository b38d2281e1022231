"""Linear models of features in the space of a kernel. Also the namespace tf.contrib.kernel_methods."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.kernel_methods", __name__)

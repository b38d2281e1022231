"""Small data sets. Also the namespace tf.contrib.learn.datasets."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.learn.datasets", __name__)

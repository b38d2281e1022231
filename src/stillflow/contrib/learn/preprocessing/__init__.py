"""Words and categories as numbers. Also the namespace tf.contrib.learn.preprocessing."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.learn.preprocessing", __name__)

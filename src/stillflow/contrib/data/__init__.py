"""tf.contrib.data: what tf.data does not have. The rest of its names are those of tf.data.experimental."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.data", __name__)

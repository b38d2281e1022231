"""Linear-chain conditional random fields. Also the namespace tf.contrib.crf."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.crf", __name__)

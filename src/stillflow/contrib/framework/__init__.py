"""What other parts of tf.contrib are made with. Also the namespace tf.contrib.framework."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.framework", __name__)

"""Images turned, moved and warped. Also the namespace tf.contrib.image."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.image", __name__)

"""Networks for pictures, as they are in papers. Also the namespace tf.keras.applications."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.applications", __name__)

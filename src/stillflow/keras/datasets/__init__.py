"""Data sets that courses use, read from ~/.keras/datasets or copied there. Also the namespace tf.keras.datasets."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.datasets", __name__)

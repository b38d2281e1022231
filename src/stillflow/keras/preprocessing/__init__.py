"""Sequences, texts and images made ready for models. Also the namespace tf.keras.preprocessing."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.preprocessing", __name__)

"""Callbacks: what is to be done at times of a training. Also the namespace tf.keras.callbacks."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.callbacks", __name__)

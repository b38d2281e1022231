"""Layers of Keras. Also the namespace tf.keras.layers."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.layers", __name__)

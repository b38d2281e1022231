"""Optimizers of Keras. Also the namespace tf.keras.optimizers."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.optimizers", __name__)

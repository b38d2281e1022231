"""Keras: layers put together to models, which are trained, saved and asked by one call each. Also tf.keras."""

from stillflow.names.namespace import serve

__version__ = "2.2.4-tf"
__getattr__, __dir__ = serve("keras", __name__)

"""Layers: objects that make their variables when they first see their inputs. Also the namespace tf.layers."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("layers", __name__)

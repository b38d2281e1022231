"""Graphs for TensorRT. Also the namespace tf.contrib.tensorrt."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.tensorrt", __name__)

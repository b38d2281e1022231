"""tf.profiler: parameters, floating-point operations, time and memory of graphs. Also the namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("profiler", __name__)

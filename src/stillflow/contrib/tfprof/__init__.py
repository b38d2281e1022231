"""tf.profiler under its older names. Also the namespace tf.contrib.tfprof."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.tfprof", __name__)

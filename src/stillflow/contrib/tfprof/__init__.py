"""tf.profiler under its older names. Also the namespace tf.contrib.tfprof."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on("contrib.tfprof.tfprof_logger", "python.profiler.tfprof_logger")

__getattr__, __dir__ = serve("contrib.tfprof", __name__)

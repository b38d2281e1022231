"""How much memory tensors have. Also the namespace tf.contrib.memory_stats.

TensorFlow answers for graphics cards only; here it is the memory of the process that all tensors have.
"""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.memory_stats", __name__)

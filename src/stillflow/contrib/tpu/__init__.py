"""Programs that are written for TPUs, on the processor. Also the namespace tf.contrib.tpu."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.tpu", __name__)

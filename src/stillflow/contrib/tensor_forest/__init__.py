"""Random forests that learn from batches (Domingos and Hulten 2000). Also the namespace tf.contrib.tensor_forest."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.tensor_forest", __name__)

"""Metrics of Keras: variables that sum up what is seen, batch by batch. Also the namespace tf.keras.metrics."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.metrics", __name__)

"""The namespace tf.contrib.staging: elements that are kept between steps, so that one is ready when a step begins."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.staging", __name__)

"""Invertible functions with the volumes that they scale. Also the namespace tf.contrib.distributions.bijectors."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.distributions.bijectors", __name__)

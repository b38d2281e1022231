"""Stochastic dual coordinate ascent. Also the namespace tf.contrib.linear_optimizer."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.linear_optimizer", __name__)

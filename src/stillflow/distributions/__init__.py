"""Probability distributions: densities, moments, samples. Also the namespace tf.distributions."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("distributions", __name__)

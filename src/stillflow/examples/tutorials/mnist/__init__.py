"""The handwritten digits of MNIST."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("examples.tutorials.mnist", __name__)

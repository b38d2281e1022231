"""tf.contrib.predictor: a model as a function of arrays."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.predictor", __name__)

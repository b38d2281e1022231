"""tf.estimator: models that train, evaluate, predict, save and export themselves, from functions that build them."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("estimator", __name__)

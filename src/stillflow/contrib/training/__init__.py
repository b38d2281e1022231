"""What tf.contrib.training adds: hyperparameters. Also the namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.training", __name__)

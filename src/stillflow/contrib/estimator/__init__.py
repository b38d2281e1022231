"""tf.contrib.estimator: heads, and what makes Estimators of others."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.estimator", __name__)

"""tf.contrib.integrate: ordinary differential equations. Also a namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.integrate", __name__)

"""tf.contrib.receptive_field: what part of an image the elements of a feature map see. Also the namespace."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.receptive_field", __name__)

"""Networks for images: AlexNet, Inception, OverFeat, ResNet and VGG. Also the namespace tf.contrib.slim.nets."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.slim.nets", __name__)

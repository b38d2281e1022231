"""What layers and models are written in: the session, the learning phase, functions of tensors. Also
tf.keras.backend."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.backend", __name__)

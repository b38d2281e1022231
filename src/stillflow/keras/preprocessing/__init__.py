"""Sequences, texts and images made ready for models. Also the namespace tf.keras.preprocessing."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

# TensorFlow takes these from a package of their own, where it does not say where they are.
passes_on("python.keras.preprocessing.image", "keras.preprocessing.image")
passes_on("python.keras.preprocessing.sequence", "keras.preprocessing.sequence")
passes_on("python.keras.preprocessing.text", "keras.preprocessing.text")
__getattr__, __dir__ = serve("keras.preprocessing", __name__)

"""Encoders and decoders over lists of inputs, which are unrolled. Also the namespace tf.contrib.legacy_seq2seq."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.legacy_seq2seq", __name__)

"""Decoders that run in loops, what feeds them, attention, beam search. Also the namespace tf.contrib.seq2seq."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.seq2seq", __name__)

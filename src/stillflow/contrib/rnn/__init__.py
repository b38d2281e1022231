"""Cells beyond those of tf.nn.rnn_cell, and what goes with them. Also the namespace tf.contrib.rnn."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.rnn", __name__)

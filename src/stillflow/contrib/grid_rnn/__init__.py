"""Recurrent cells on grids of several dimensions. Also the namespace tf.contrib.grid_rnn."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.grid_rnn", __name__)

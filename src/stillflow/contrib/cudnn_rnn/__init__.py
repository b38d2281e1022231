"""Recurrent nets that are trained on GPUs elsewhere, computed here. Also the namespace tf.contrib.cudnn_rnn."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.cudnn_rnn", __name__)

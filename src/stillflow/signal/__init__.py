"""tf.signal: frames and windows of signals, spectra of them, and what describes speech. Transforms are ops."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("signal", __name__)

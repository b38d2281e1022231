"""Signals: frames and windows, spectra of them, and what describes speech (tf.signal). Transforms themselves are ops."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("signal", __name__)

"""Exports of before SavedModels: tf.contrib.session_bundle."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.session_bundle", __name__)

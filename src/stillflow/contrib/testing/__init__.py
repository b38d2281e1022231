"""What tests read of event files. Also the namespace tf.contrib.testing."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.testing", __name__)

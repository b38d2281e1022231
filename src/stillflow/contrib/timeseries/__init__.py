"""Models of time series. Also the namespace tf.contrib.timeseries."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.timeseries", __name__)

"""Losses of Keras: functions of true and predicted values. Also the namespace tf.keras.losses."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("keras.losses", __name__)

"""What was there before tf.estimator: data sets, vocabularies, experiments. Also the namespace tf.contrib.learn."""

from stillflow.names.namespace import serve

__getattr__, __dir__ = serve("contrib.learn", __name__)

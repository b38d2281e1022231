"""What was there before tf.estimator: data sets, vocabularies, experiments. Also the namespace tf.contrib.learn."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on("contrib.learn.graph_actions", "contrib.learn.python.learn.graph_actions")
passes_on("contrib.learn.head", "contrib.learn.python.learn.estimators.head")
passes_on("contrib.learn.io", "contrib.learn.python.learn.learn_io")
passes_on("contrib.learn.models", "contrib.learn.python.learn.models")
passes_on("contrib.learn.monitors", "contrib.learn.python.learn.monitors")
passes_on("contrib.learn.ops", "contrib.learn.python.learn.ops")
passes_on("contrib.learn.utils", "contrib.learn.python.learn.utils")

__getattr__, __dir__ = serve("contrib.learn", __name__)

"""Expectations by samples. Also the namespace tf.contrib.bayesflow."""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on("contrib.bayesflow.monte_carlo", "contrib.bayesflow.python.ops.monte_carlo")

__getattr__, __dir__ = serve("contrib.bayesflow", __name__)

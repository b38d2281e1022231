"""A small language for deep networks: layers with arguments by scope, training and evaluation loops, input.

Also the namespace tf.contrib.slim.
"""

from stillflow.names import passes_on
from stillflow.names.namespace import serve

passes_on(
    "contrib.slim",
    "contrib.framework.python.ops.arg_scope",
    "contrib.framework.python.ops.variables",
    "contrib.layers",
    "contrib.layers.python.layers.embedding_ops",
    "contrib.layers.python.layers.feature_column",
    "contrib.layers.python.layers.optimizers",
    "contrib.layers.python.layers.summaries",
    "contrib.layers.python.layers.target_column",
    "contrib.layers.python.ops.bucketization_op",
    "contrib.layers.python.ops.sparse_feature_cross_op",
)
passes_on("contrib.slim.init_ops", "python.ops.init_ops")
passes_on("contrib.slim.initializers", "contrib.layers.python.layers.initializers")
passes_on("contrib.slim.layers", "contrib.layers.python.layers.layers")
passes_on("contrib.slim.layers.initializers", "contrib.layers.python.layers.initializers")
passes_on("contrib.slim.layers.layers", "contrib.layers.python.layers.layers")
passes_on("contrib.slim.layers.regularizers", "contrib.layers.python.layers.regularizers")
passes_on("contrib.slim.layers.utils", "contrib.layers.python.layers.utils")
passes_on("contrib.slim.losses", "contrib.losses")
passes_on("contrib.slim.metrics", "contrib.metrics")
passes_on("contrib.slim.regularizers", "contrib.layers.python.layers.regularizers")
passes_on("contrib.slim.utils", "contrib.layers.python.layers.utils")

__getattr__, __dir__ = serve("contrib.slim", __name__)

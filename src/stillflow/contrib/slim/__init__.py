"""A small language for deep networks: layers with arguments by scope, training and evaluation loops, input.

Also the namespace tf.contrib.slim.
"""

from stillflow.names import passes_on
from stillflow.names.namespace import find_module, serve

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

# The modules that slim passes on because its layers import them: programs write slim.init_ops.zeros_initializer().
_PASSED_ON = {
    "python.framework": "dtypes ops sparse_tensor tensor_shape",
    "python.ops": "array_ops clip_ops control_flow_ops init_ops math_ops nn nn_ops parsing_ops random_ops"
    " resource_variable_ops sparse_ops string_ops variable_scope variables",
    "python.training": "moving_averages",
    "python.util": "nest",
}
_MODULES = {name: f"{package}.{name}" for package, names in _PASSED_ON.items() for name in names.split()}

_find, __dir__ = serve("contrib.slim", __name__)


def __getattr__(name):
    return find_module(_MODULES[name]) if name in _MODULES else _find(name)

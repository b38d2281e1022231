"""enable: the start of eager execution."""

from __future__ import annotations

from stillflow.eager.graph import EagerGraph
from stillflow.graph import default_graph
from stillflow.names import public
from stillflow.session.process_settings import settings

# What TensorFlow's constants of these names are: values of `execution_mode` and `device_policy`.
SYNC = public("contrib.eager.SYNC", "python.eager.context.SYNC")(0)
ASYNC = public("contrib.eager.ASYNC", "python.eager.context.ASYNC")(1)
DEVICE_PLACEMENT_EXPLICIT = public("contrib.eager.DEVICE_PLACEMENT_EXPLICIT")(0)
DEVICE_PLACEMENT_WARN = public("contrib.eager.DEVICE_PLACEMENT_WARN")(1)
DEVICE_PLACEMENT_SILENT = public("contrib.eager.DEVICE_PLACEMENT_SILENT")(2)
DEVICE_PLACEMENT_SILENT_FOR_INT32 = public("contrib.eager.DEVICE_PLACEMENT_SILENT_FOR_INT32")(3)

_POLICIES = (None, DEVICE_PLACEMENT_EXPLICIT, DEVICE_PLACEMENT_WARN, DEVICE_PLACEMENT_SILENT,
             DEVICE_PLACEMENT_SILENT_FOR_INT32)  # fmt: skip


def enable(config=None, device_policy=None, execution_mode=None):
    """See tf.enable_eager_execution. A second call changes nothing."""
    if config is not None and type(config).__name__ != "ConfigProto":
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    if device_policy not in _POLICIES:
        raise ValueError("device_policy must be one of None, tf.contrib.eager.DEVICE_PLACEMENT_*")
    if execution_mode not in (None, SYNC, ASYNC):
        raise ValueError("execution_mode must be one of None, tf.contrib.eager.SYNC, tf.contrib.eager.ASYNC")
    if default_graph.eager_graph() is None:
        threads = settings.intra_op_threads if config is None else config.intra_op_parallelism_threads
        default_graph.execute_eagerly(EagerGraph(threads))

"""tf.*: which behaviour is in force. It is that of TensorFlow 1: graphs, run by sessions, or eager execution."""

from __future__ import annotations

from stillflow.graph import default_graph
from stillflow.names import public


@public("disable_v2_behavior")
def disable_v2_behavior():
    """Chooses the behaviour of TensorFlow 1, which there is; resource variables are no longer the default."""
    from stillflow.variables.defaults import disable_resource_variables

    disable_resource_variables()


@public("enable_eager_execution", "contrib.eager.enable_eager_execution")
def enable_eager_execution(config=None, device_policy=None, execution_mode=None):
    """Makes operations run when they are called, wherever no graph is the default, for the rest of the program.

    Args:
      config: a ConfigProto; of it, intra_op_parallelism_threads counts.
      device_policy: None or a tf.contrib.eager.DEVICE_PLACEMENT_* constant; there is one device.
      execution_mode: None or tf.contrib.eager.SYNC or ASYNC; operations have run when they return.

    Raises:
      ValueError: if there is a default graph already, or for other arguments than these.
      TypeError: if `config` is no ConfigProto.
    """
    from stillflow.eager.execution import enable

    enable(config, device_policy, execution_mode)


@public("disable_eager_execution")
def disable_eager_execution():
    """Chooses graphs and sessions, from here on."""
    default_graph.execute_eagerly(None)


@public("disable_control_flow_v2")
def disable_control_flow_v2():
    """Chooses TensorFlow 1's control flow, which there is."""


@public("disable_tensor_equality")
def disable_tensor_equality():
    """Chooses that tensors compare by identity, as they do."""


@public("executing_eagerly", "contrib.eager.executing_eagerly", "contrib.eager.in_eager_mode")
def executing_eagerly():
    """Whether operations run when they are called here, instead of becoming nodes of a graph.

    For programs: what stillflow itself does differently has an eager version (see stillflow.graph.mode).
    """
    return default_graph.get_default_graph().executes_eagerly

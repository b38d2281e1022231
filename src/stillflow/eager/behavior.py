"""tf.*: which behaviour is in force: that of TensorFlow 1, graphs that sessions run, or parts of TensorFlow 2's."""

from __future__ import annotations

from stillflow.functions.control_flow_v2 import disable_control_flow_v2, enable_control_flow_v2
from stillflow.graph import default_graph
from stillflow.graph.shape import disable_v2_tensorshape, enable_v2_tensorshape
from stillflow.names import public
from stillflow.ops.equality import disable_tensor_equality, enable_tensor_equality
from stillflow.platform import tf2
from stillflow.variables.defaults import disable_resource_variables, enable_resource_variables


@public("enable_v2_behavior")
def enable_v2_behavior():
    """Chooses the behaviour of TensorFlow 2 where it differs, before anything else of the program.

    That is eager execution, resource variables, sizes of shapes that are plain integers, == by elements, conditions
    and loops of graphs that are nodes calling functions, shuffled data sets that have another order in each loop over
    them, and what Keras does by itself: the names of metrics, layers that cast their inputs, and SavedModels as the
    format of `save`. Names of tf mean what they do without it.

    Raises ValueError if there is a default graph already.
    """
    tf2.enable()
    enable_eager_execution()
    enable_v2_tensorshape()
    enable_resource_variables()
    enable_tensor_equality()
    enable_control_flow_v2()


@public("disable_v2_behavior")
def disable_v2_behavior():
    """Chooses the behaviour of TensorFlow 1, which there is from the start."""
    tf2.disable()
    disable_eager_execution()
    disable_v2_tensorshape()
    disable_resource_variables()
    disable_tensor_equality()
    disable_control_flow_v2()


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


@public("executing_eagerly", "contrib.eager.executing_eagerly", "contrib.eager.in_eager_mode")
def executing_eagerly():
    """Whether operations run when they are called here, instead of becoming nodes of a graph.

    For programs: what stillflow itself does differently has an eager version (see stillflow.graph.mode).
    """
    return default_graph.get_default_graph().executes_eagerly

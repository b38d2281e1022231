"""TensorFlow 2's control flow in graphs: conditions and loops are nodes that call functions, TensorArrays lists."""

from __future__ import annotations

from stillflow.functions import branches, loops
from stillflow.graph.default_graph import get_default_graph
from stillflow.graph.graph import Graph
from stillflow.graph.mode import FUNCTIONAL_VERSIONS, functional_version_of
from stillflow.names import Setting, public
from stillflow.ops.control_flow.cond import cond
from stillflow.ops.control_flow.list_tensor_array import ListTensorArray
from stillflow.ops.control_flow.tensor_array import TensorArray
from stillflow.ops.control_flow.while_loop import while_loop

functional_version_of(TensorArray)(ListTensorArray)
cond_v2 = public("python.ops.cond_v2.cond_v2")(branches.cond_v2)
while_v2 = public("python.ops.while_v2.while_loop")(loops.while_v2)


@functional_version_of(cond)
def _cond(pred, true_fn=None, false_fn=None, strict=False, name=None, fn1=None, fn2=None):
    return cond_v2(pred, true_fn, false_fn, name)


@functional_version_of(while_loop)
def _while_loop(
    cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
    name=None, maximum_iterations=None, return_same_structure=False,
):  # fmt: skip
    for function, argument in ((cond, "cond"), (body, "body")):
        if not callable(function):
            raise TypeError(f"{argument} must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    return while_v2(
        cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations, name, return_same_structure,
        back_prop,
    )  # fmt: skip


@public("enable_control_flow_v2")
def enable_control_flow_v2():
    """Makes tf.cond and tf.while_loop nodes If and While, whose branches and bodies are functions, from here on.

    A tf.TensorArray is then a list, a tensor of type variant, and has no handle. What tf.function traces is not
    affected: there conditions and loops stay Switch and Merge nodes.
    """
    Graph.versions = FUNCTIONAL_VERSIONS


@public("disable_control_flow_v2")
def disable_control_flow_v2():
    """Makes tf.cond and tf.while_loop Switch and Merge nodes, as they are from the start."""
    Graph.versions = {}


def is_enabled():
    """Whether `enable_control_flow_v2` was called, and not `disable_control_flow_v2` after it."""
    return Graph.versions is FUNCTIONAL_VERSIONS


def _set_enabled(value):
    (enable_control_flow_v2 if value else disable_control_flow_v2)()


ENABLE_CONTROL_FLOW_V2 = public("python.ops.control_flow_util.ENABLE_CONTROL_FLOW_V2")(
    Setting(is_enabled, _set_enabled)
)


@public("python.ops.control_flow_util.EnableControlFlowV2")
def EnableControlFlowV2(graph):  # noqa: N802
    """Whether tf.cond and tf.while_loop build nodes If and While in a graph."""
    return graph.versions is FUNCTIONAL_VERSIONS


@public("control_flow_v2_enabled")
def control_flow_v2_enabled():
    """Whether tf.cond and tf.while_loop build nodes If and While in the default graph."""
    return EnableControlFlowV2(get_default_graph())


@public("experimental.output_all_intermediates")
def output_all_intermediates(state):
    """Whether nodes If and While return all that their gradients may need.

    They always return what the gradients that are asked for need, so that `state` makes no difference.
    """

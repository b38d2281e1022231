"""Parts of a graph that are cut off, connected and bypassed: tf.contrib.graph_editor.edit."""

from __future__ import annotations

from stillflow import ops as nodes
from stillflow.contrib.graph_editor import rerouting
from stillflow.contrib.graph_editor.elements import (
    ControlOutputs,
    check_graphs,
    make_placeholder_from_tensor,
    placeholder_name,
)
from stillflow.contrib.graph_editor.selection import check_cios
from stillflow.contrib.graph_editor.views import SubGraphView, make_view
from stillflow.names import public


@public("contrib.graph_editor.detach_control_inputs", "contrib.graph_editor.edit.detach_control_inputs")
def detach_control_inputs(sgv):
    """Removes the control dependencies of a view's operations on others."""
    sgv = make_view(sgv)
    for op in sgv.ops:
        rerouting.remove_control_inputs(op, [control for control in op.control_inputs if control not in sgv.ops])


@public("contrib.graph_editor.detach_control_outputs", "contrib.graph_editor.edit.detach_control_outputs")
def detach_control_outputs(sgv, control_outputs):
    """Removes the control dependencies of others on a view's operations; `control_outputs` says which there are."""
    if not isinstance(control_outputs, ControlOutputs):
        raise TypeError(f"Expected a util.ControlOutputs, got: {type(control_outputs)}")
    control_outputs.update()
    sgv = make_view(sgv)
    for op in sgv.ops:
        for follower in control_outputs.get(op):
            if follower not in sgv.ops:
                rerouting.remove_control_inputs(follower, op)


@public("contrib.graph_editor.detach_inputs", "contrib.graph_editor.edit.detach_inputs")
def detach_inputs(sgv, control_inputs=False):
    """Puts placeholders in place of a view's inputs.

    Args:
      control_inputs: whether control dependencies are removed as well.

    Returns:
      (the view, the placeholders).
    """
    sgv = make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [nodes.placeholder(dtype=t.dtype, name=placeholder_name(t)) for t in sgv.inputs]
    rerouting.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


@public("contrib.graph_editor.detach_outputs", "contrib.graph_editor.edit.detach_outputs")
def detach_outputs(sgv, control_outputs=None):
    """Puts placeholders in place of a view's outputs, where others read them.

    Args:
      control_outputs: a ControlOutputs, if control dependencies are removed as well.

    Returns:
      (the view of the outputs that are read, the placeholders).
    """
    sgv = make_view(sgv)
    read = sgv.remap_outputs([index for index, tensor in enumerate(sgv.outputs) if tensor.consumers()])
    readers = SubGraphView(read.consumers())
    outputs = list(read.outputs)
    readers = readers.remap_inputs([index for index, tensor in enumerate(readers.inputs) if tensor in outputs])
    with read.graph.as_default():
        placeholders = [make_placeholder_from_tensor(tensor) for tensor in readers.inputs]
    rerouting.swap_outputs(read, placeholders)
    if control_outputs is not None:
        detach_control_outputs(read, control_outputs)
    return read, placeholders


@public("contrib.graph_editor.detach", "contrib.graph_editor.edit.detach")
def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """Cuts a view off: (the view, placeholders for its inputs, placeholders for its outputs)."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


@public("contrib.graph_editor.connect", "contrib.graph_editor.edit.connect")
def connect(sgv0, sgv1, disconnect_first=False):
    """Makes the first view's outputs the second one's inputs.

    Args:
      disconnect_first: whether those who read the outputs so far get placeholders.
    """
    sgv0, sgv1 = make_view(sgv0), make_view(sgv1)
    check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    rerouting.reroute_inputs(rerouting.passthrough(sgv0.outputs), sgv1)
    return sgv0, sgv1


@public("contrib.graph_editor.bypass", "contrib.graph_editor.edit.bypass")
def bypass(sgv):
    """Makes readers of a view's outputs read its inputs: (the view, placeholders for its inputs)."""
    sgv = make_view(sgv)
    inputs = list(sgv.inputs)
    sgv, placeholders = detach_inputs(sgv)
    rerouting.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders

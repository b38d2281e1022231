"""What error messages say of the nodes they name: where a program made them, and where it placed them."""

from __future__ import annotations

import re

from stillflow.names import public

_TAG = re.compile(r"\{\{([A-Za-z0-9_.][A-Za-z0-9_.\-/]*) ([A-Za-z0-9_.][A-Za-z0-9_.\-/]*)\}\}")


@public("python.framework.error_interpolation._compute_device_summary_from_list")
def describe_devices(name, device_assignment_list, prefix=""):
    """Lines that list the device scopes of node `name`, which are TraceableObjects."""
    if not device_assignment_list:
        return f"{prefix}No device assignments were active during op '{name}' creation."
    lines = [f"{prefix}Device assignments active during op '{name}' creation:"]
    for scope in device_assignment_list:
        lines.append(f"{prefix}  with tf.device({scope.obj}): <{scope.filename}:{scope.lineno}>")
    return "\n".join(lines)


@public("python.framework.error_interpolation._compute_colocation_summary_from_dict")
def describe_colocations(name, colocation_dict, prefix=""):
    """Lines that list what node `name` is placed with: {name of another: TraceableObject}."""
    if not colocation_dict:
        return f"{prefix}No node-device colocations were active during op '{name}' creation."
    lines = [f"{prefix}Node-device colocations active during op '{name}' creation:"]
    for other, scope in colocation_dict.items():
        lines.append(f"{prefix}  with tf.colocate_with({other}): <{scope.filename}:{scope.lineno}>")
    return "\n".join(lines)


@public("python.framework.error_interpolation.interpolate")
def interpolate(error_message, graph):
    """The message with what is known in the place of tags: of {{node NAME}} and of {{colocation_node NAME}}.

    Tags of nodes that the graph does not have stay as they are.
    """
    sources: list[str] = []
    places: list[str] = []

    def replace(tag):
        kind, name = tag.groups()
        op = graph._by_name.get(name)
        if kind == "function_node":
            return ""
        if op is None or kind not in ("node", "colocation_node"):
            return tag.group()
        if kind == "node":
            inputs = {each._op.described: each._op for each in op._inputs}
            lines = [f" {other.described.removeprefix('node ').rstrip()}" for other in inputs.values()]
            if lines:
                sources.append("\n".join([f"\nInput Source operations connected to node {name}:", *lines]))
            return op.described
        devices = describe_devices(name, op._device_assignments)
        places.append(f"{describe_colocations(name, op._colocation_dict)}\n{devices}")
        return f"{op.described}placed on device {devices} "

    text = _TAG.sub(replace, error_message)
    if sources:
        text += "\n\nErrors may have originated from an input operation." + "\n".join(sources)
    if places:
        text += "Additional information about colocations:" + "\n".join(places)
    return text

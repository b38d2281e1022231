"""Comparing GraphDefs node by node."""

from stillflow.formats import protobuf


def parse(data):
    """The GraphDef in an array of bytes."""
    return protobuf.message("GraphDef").FromString(data.tobytes())


def differences(ours, theirs, most=12):
    """Lines that say how two GraphDefs differ, the first few; empty if they are equal."""
    lines = []
    for i in range(max(len(ours.node), len(theirs.node))):
        if i >= len(ours.node) or i >= len(theirs.node):
            longer, which = (ours, "ours") if i < len(ours.node) else (theirs, "theirs")
            lines.append(f"{i}: only {which}: {longer.node[i].name} ({longer.node[i].op})")
        else:
            lines.extend(_node_differences(i, ours.node[i], theirs.node[i]))
        if len(lines) >= most:
            break
    return lines


def _node_differences(i, ours, theirs):
    label = f"{i}: {theirs.name} ({theirs.op})"
    for part in ("name", "op", "device"):
        if getattr(ours, part) != getattr(theirs, part):
            yield f"{label}: {part} is {getattr(ours, part)!r}, should be {getattr(theirs, part)!r}"
    if list(ours.input) != list(theirs.input):
        yield f"{label}: inputs are {list(ours.input)}, should be {list(theirs.input)}"
    for key in sorted(set(ours.attr) | set(theirs.attr)):
        if key not in ours.attr or key not in theirs.attr:
            yield f"{label}: attr {key} is only {'ours' if key in ours.attr else 'theirs'}"
        elif ours.attr[key] != theirs.attr[key]:
            mine, wanted = (" ".join(str(node.attr[key]).split()) for node in (ours, theirs))
            yield f"{label}: attr {key} is {mine}, should be {wanted}"

"""Comparing GraphDefs node by node, those of their functions too."""

import re

from stillflow.formats import protobuf


def parse(data):
    """The GraphDef in an array of bytes."""
    return protobuf.message("GraphDef").FromString(data.tobytes())


_OF_PYTHON = (rb"pyfunc_\d+", rb"CustomGradient-\d+")


def differences(ours, theirs, most=12):
    """Lines that say how two GraphDefs differ, the first few; empty if they are equal.

    The ends of functions' names, which depend on what else the process does, are not compared.
    """
    ours, theirs = _with_plain_names(ours), _with_plain_names(theirs)
    lines = _function_differences(ours, theirs)
    for i in range(max(len(ours.node), len(theirs.node))):
        if i >= len(ours.node) or i >= len(theirs.node):
            longer, which = (ours, "ours") if i < len(ours.node) else (theirs, "theirs")
            lines.append(f"{i}: only {which}: {longer.node[i].name} ({longer.node[i].op})")
        else:
            lines.extend(_node_differences(i, ours.node[i], theirs.node[i]))
        if len(lines) >= most:
            break
    return lines


def _with_plain_names(graph_def):
    """A copy in which functions have numbers in the order in which they are met, and lie in that order."""
    if not graph_def.library.function:
        return graph_def
    found = type(graph_def).FromString(graph_def.SerializeToString())
    functions = {function.signature.name: function for function in found.library.function}
    names: dict = {}
    pending = list(found.node)
    while pending:
        node = pending.pop(0)
        for key in sorted(node.attr):
            if node.attr[key].WhichOneof("value") != "func":
                continue
            call = node.attr[key].func
            if call.name not in names:
                names[call.name] = f"{len(names)}:{re.sub('_([0-9]+|[A-Za-z0-9]{11})$', '', call.name)}"
                pending.extend(functions[call.name].node_def)
            call.name = names[call.name]
    for name, function in functions.items():
        function.signature.name = names.get(name, name)
    ordered = sorted(found.library.function, key=lambda function: function.signature.name)
    ordered = [type(function).FromString(function.SerializeToString()) for function in ordered]
    del found.library.function[:]
    found.library.function.extend(ordered)
    return found


def _function_differences(ours, theirs):
    mine = {function.signature.name: function for function in ours.library.function}
    wanted = {function.signature.name: function for function in theirs.library.function}
    if set(mine) != set(wanted):
        return [f"functions are {sorted(mine)}, should be {sorted(wanted)}"]
    lines = []
    if mine and ours.versions != theirs.versions:
        lines.append(f"versions are {ours.versions}, should be {theirs.versions}")
    for name in sorted(mine):
        one, other = mine[name], wanted[name]
        for function in (one, other):
            for node in function.node_def:
                _sort_controls(node)
            function.signature.control_output.sort()
        for i in range(max(len(one.node_def), len(other.node_def))):
            if i >= len(one.node_def) or i >= len(other.node_def):
                longer, which = (one, "ours") if i < len(one.node_def) else (other, "theirs")
                lines.append(f"{name} {i}: only {which}: {longer.node_def[i].name} ({longer.node_def[i].op})")
            else:
                lines.extend(f"{name} {line}" for line in _node_differences(i, one.node_def[i], other.node_def[i]))
        if not lines and one != other:
            for part in ("signature", "ret", "control_ret", "attr", "arg_attr"):
                if getattr(one, part) != getattr(other, part):
                    lines.append(f"{name}: {part} is {getattr(one, part)}, should be {getattr(other, part)}")
    return lines


def _sort_controls(node):
    """Control inputs have no order."""
    inputs = [name for name in node.input if not name.startswith("^")]
    controls = sorted(name for name in node.input if name.startswith("^"))
    del node.input[:]
    node.input.extend(inputs + controls)


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
        elif ours.attr[key] != theirs.attr[key] and not _are_of_python(ours.attr[key], theirs.attr[key]):
            mine, wanted = (" ".join(str(node.attr[key]).split()) for node in (ours, theirs))
            yield f"{label}: attr {key} is {mine}, should be {wanted}"


def _are_of_python(ours, theirs):
    """Whether both name functions of Python, which are numbered by all that the process has made before."""
    return any(all(re.fullmatch(name, each.s) for each in (ours, theirs)) for name in _OF_PYTHON)

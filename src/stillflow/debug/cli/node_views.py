"""node_info, list_inputs, list_outputs: a node and its neighbours."""

from __future__ import annotations

from stillflow.debug.cli.rich_text import MenuItem, RichLine, RichTextLines, rich_text_lines_from_rich_line_list
from stillflow.debug.dumps.element_names import get_node_name

# Ops that move values between devices and to the caller.
_HIDDEN = ("_Send", "_Recv", "_HostSend", "_HostRecv", "_Retval")


def _shown(dump, names):
    return [name for name in names if dump.node_op_type(get_node_name(name)) not in _HIDDEN]


# ---- node_info ----------------------------------------------------------------------------------------------------


def node_info(dump, node_name, parsed):
    """What is known of a node, as RichTextLines; `parsed` are the arguments of the command."""
    title = f"Node {node_name}"
    output = RichTextLines([title], {0: [(len(title) - len(node_name), len(title), "bold")]})
    lines = ["", f"  Op: {dump.node_op_type(node_name)}", f"  Device: {dump.node_device(node_name)}"]
    output.extend(RichTextLines(lines))
    for kind, find in (("input", dump.node_inputs), ("recipient", dump.node_recipients)):
        data, controls = (_shown(dump, find(node_name, is_control=is_control)) for is_control in (False, True))
        output.extend(_neighbors(dump, kind, data, controls))
    if parsed.attributes:
        output.extend(_attributes(dump, node_name))
    if parsed.dumps:
        output.extend(_dumps(dump, node_name))
    if parsed.traceback:
        output.extend(_traceback(dump, node_name))
    return output


def _neighbors(dump, kind, data, controls):
    output = RichTextLines(["", f"  {len(data)} {kind}(s) + {len(controls)} control {kind}(s):"])
    output.append(f"    {len(data)} {kind}(s):")
    _append_nodes(output, dump, data)
    if controls:
        output.append("")
        output.append(f"    {len(controls)} control {kind}(s):")
        _append_nodes(output, dump, controls)
    return output


def _append_nodes(output, dump, names):
    for name in names:
        line = f"      [{dump.node_op_type(get_node_name(name))}] {name}"
        output.append(line, [(len(line) - len(name), len(line), MenuItem(None, f"ni -a -d -t {name}"))])


def _attributes(dump, node_name):
    lines = ["", "Node attributes:"]
    for key, value in dump.node_attributes(node_name).items():
        text = repr(value).strip().replace("\n", " ")
        lines += [f"  {key}:", f"    {text}", ""]
    return RichTextLines(lines)


def _dumps(dump, node_name):
    data = [datum for key in dump.debug_watch_keys(node_name) for datum in dump.watch_key_to_data(key)]
    output = RichTextLines([f"{len(data)} dumped tensor(s):", ""])
    for i, datum in enumerate(data):
        line = f"  Slot {datum.output_slot} @ {datum.debug_op} @ {(datum.timestamp - dump.t0) / 1000.0:.3f} ms"
        output.append(line, [(2, len(line), MenuItem(None, f"pt {node_name}:{datum.output_slot} -n {i}"))])
    return output


def _traceback(dump, node_name):
    lines: list = [RichLine(""), RichLine(""), RichLine("Traceback of node construction:", "bold")]
    try:
        for depth, (path, number, function, text) in enumerate(dump.node_traceback(node_name)):
            place = RichLine(f"Line:     {number}", MenuItem("", f"ps {path} -b {number}") if text else None)
            quoted = f'"{text}"' if text else "None"
            lines += [
                f"{depth}: {path}",
                RichLine("  ") + place,
                f"  Function: {function}",
                f"  Text:     {quoted}",
                "",
            ]
    except KeyError:
        lines.append("(Node unavailable in the loaded Python graph)")
    except LookupError:
        lines.append("(Unavailable because no Python graph has been loaded)")
    return rich_text_lines_from_rich_line_list(lines)


# ---- list_inputs, list_outputs ------------------------------------------------------------------------------------


class NeighborTree:
    """The inputs of a node, or what takes its outputs, with theirs, as lines.

    Args:
      dump: the DebugDumpDir.
      parsed: the arguments of the command.
      is_of_outputs: which of the two.
    """

    def __init__(self, dump, parsed, is_of_outputs):
        self._dump = dump
        self._find = dump.node_recipients if is_of_outputs else dump.node_inputs
        self._command = "lo -c -r" if is_of_outputs else "li -c -r"
        self._title = "Recipients of" if is_of_outputs else "Inputs to"
        self._kind = "recipients" if is_of_outputs else "inputs"
        self._with_controls = parsed.control
        self._with_types = parsed.op_type
        self._depth = parsed.depth if parsed.recursive else 1
        self._output = RichTextLines([])

    def lines(self, node_name):
        """RichTextLines for a node."""
        output = self._output
        title = f'{self._title} node "{node_name}"'
        included = f", control {self._kind} included" if self._with_controls else ""
        bold = (len(title) - 1 - len(node_name), len(title) - 1, "bold")
        output.append(f"{title} (Depth limit = {self._depth}{included}):", [bold])
        if not self._neighbors(node_name):
            output.append("  [None]")
        self._add(node_name, "", 1)
        output.extend(RichTextLines(["", "Legend:", "  (d): recursion depth = d."]))
        if self._with_controls:
            output.append("  (Ctrl): Control input.")
        if self._with_types:
            output.append("  [Op]: Input node has op type Op.")
        return output

    def _neighbors(self, node):
        """[(name, what is written before it)]."""
        found = [(name, "") for name in _shown(self._dump, self._find(node, is_control=False))]
        if self._with_controls:
            controls = sorted(self._find(node, is_control=True))
            found += [(name, "(Ctrl) ") for name in _shown(self._dump, controls)]
        return found

    def _add(self, node, before, depth):
        """Adds a node's neighbours; `before` are the lines of the tree that run on beside them."""
        neighbors = self._neighbors(node)
        if neighbors and depth > self._depth:
            self._output.append(f"{before}|- ...")
            return
        for i, (name, label) in enumerate(neighbors):
            if self._with_types:
                label += f"[{self._dump.node_op_type(get_node_name(name))}] "
            line = f"{before}|- ({depth}) {label}{name}"
            item = MenuItem(None, f"{self._command} {name}")
            self._output.append(line, [(len(line) - len(name), len(line), item)])
            is_last = i == len(neighbors) - 1
            self._add(get_node_name(name), before + ("   " if is_last else "|  "), depth + 1)

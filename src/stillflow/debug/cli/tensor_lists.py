"""list_tensors: the dumps of a run as a table."""

from __future__ import annotations

import re

from stillflow.debug.cli.arguments import SORT_KEYS
from stillflow.debug.cli.rich_text import MenuItem, RichTextLines
from stillflow.debug.cli.screens import bytes_to_readable_str

_HEADS = ("t (ms)", "Size (B)", "Op type", "Tensor name")


def list_tensors(dump, parsed, data):
    """The table of DebugTensorDatums, as RichTextLines.

    Args:
      dump: their DebugDumpDir.
      parsed: the arguments of the command.
      data: those that pass the command's filter.

    Raises ValueError for a key to sort by that there is not.
    """
    if parsed.sort_by not in SORT_KEYS:
        raise ValueError(f"Unsupported key to sort tensors by: {parsed.sort_by}")
    keys = {
        "timestamp": lambda datum: datum.timestamp,
        "dump_size": lambda datum: datum.dump_size_bytes,
        "op_type": lambda datum: dump.node_op_type(datum.node_name),
        "tensor_name": lambda datum: datum.tensor_name,
    }
    output = RichTextLines([])
    for name, pattern in (("Op type", parsed.op_type_filter), ("Node name", parsed.node_name_filter)):
        if pattern:
            output.append(f'{name} regex filter: "{pattern}"')
    output.append("")
    rows = [
        (
            f"[{(datum.timestamp - dump.t0) / 1000.0:.3f}]", bytes_to_readable_str(datum.dump_size_bytes),
            dump.node_op_type(datum.node_name), datum.tensor_name,
        )
        for datum in sorted(data, key=keys[parsed.sort_by], reverse=parsed.reverse)
        if _is_listed(dump, datum, parsed)
    ]  # fmt: skip
    widths = [max(len(row[i]) + 1 for row in [_HEADS, *rows]) for i in range(3)]
    output.extend(_head(parsed, widths))
    for row in rows:
        line = "".join(text.ljust(width) for text, width in zip(row, widths, strict=False)) + row[-1]
        output.append(line, [(len(line) - len(row[-1]), len(line), MenuItem("", f"pt {row[-1]}"))])
    passing = f' passing filter "{parsed.tensor_filter}"' if parsed.tensor_filter else ""
    output.prepend(f"{len(rows)} dumped tensor(s){passing}:")
    return output


def _is_listed(dump, datum, parsed):
    if parsed.node_name_filter and not re.match(parsed.node_name_filter, datum.node_name):
        return False
    return not parsed.op_type_filter or re.match(parsed.op_type_filter, dump.node_op_type(datum.node_name))


def _head(parsed, widths):
    """The heads of the columns, each with the command that sorts by it."""
    command = "list_tensors"
    for flag, value in (
        ("-f", parsed.tensor_filter), ("-t", parsed.op_type_filter), ("-n", parsed.node_name_filter),
    ):  # fmt: skip
        if value:
            command += f" {flag} {value}"
    text, segments = "", []
    for head, key, width in zip(_HEADS, SORT_KEYS, [*widths, 0], strict=True):
        reverse = " -r" if parsed.sort_by == key and not parsed.reverse else ""
        item = MenuItem(None, f"{command} -s {key}{reverse}")
        segments.append((len(text), len(text) + len(head), [item, "bold"]))
        text += head.ljust(width)
    return RichTextLines([text], {0: segments})

"""print_source, list_source: the program's files, with what was made in them."""

from __future__ import annotations

from stillflow.debug import sources
from stillflow.debug.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichLine,
    rich_text_lines_from_rich_line_list,
)
from stillflow.debug.cli.screens import COLOR_BLUE, COLOR_GRAY, COLOR_WHITE, COLOR_YELLOW
from stillflow.debug.dumps.element_names import get_node_name


def print_source(dump, parsed):
    """The lines of a file, each followed by what was made there; `parsed` are the arguments of the command."""
    made = sources.annotate_source(dump, parsed.source_file_path, do_dumped_tensors=parsed.tensors)
    source_lines, width = sources.load_source(parsed.source_file_path)
    lines: list = []
    begin = 0
    for number, text in enumerate(source_lines, 1):
        label = RichLine(f"L{number}", COLOR_YELLOW)
        lines.append(label + " " * (width - len(label)) + text)
        if number == parsed.line_begin:
            begin = len(lines) - 1
        lines += _elements(dump, parsed, number, sorted(made.get(number, ())))
    return rich_text_lines_from_rich_line_list(lines, annotations={INIT_SCROLL_POS_KEY: begin})


def _elements(dump, parsed, number, elements):
    most = parsed.max_elements_per_line
    lines = []
    for element in elements[:most]:
        is_dumped = dump.debug_watch_keys(get_node_name(element))
        attribute = MenuItem("", f"pt {element}") if is_dumped else COLOR_BLUE
        lines.append(RichLine("    ") + RichLine(element, attribute))
    if len(elements) > most:
        kind, flag = ("tensor(s)", "-t") if parsed.tensors else ("op(s)", "")
        command = f"ps {parsed.source_file_path} {flag} -b {number} -m {most + 5}"
        text = f"    (... Omitted {len(elements) - most} of {len(elements)} {kind} ...) "
        lines.append(RichLine(text) + RichLine("+5", MenuItem(None, command)))
    return lines


def list_source(dump, parsed):
    """(RichTextLines of a table of files, whether there are any); `parsed` are the command's arguments."""
    found = sources.list_source_files_against_dump(dump, parsed.path_filter, parsed.node_name_filter)
    lines = [RichLine("List of source files that created nodes in this run", "bold")]
    for name, pattern in (("File path", parsed.path_filter), ("Node name", parsed.node_name_filter)):
        if pattern:
            lines.append(RichLine(f'{name} regex filter: "{pattern}"'))
    output = rich_text_lines_from_rich_line_list([*lines, RichLine()])
    if not found:
        output.append("[No source file information.]")
        return output, False
    outside = "File(s) outside TensorFlow Python library:"
    output.extend(_table(outside, COLOR_WHITE, [row for row in found if not row[1]]))
    output.extend(_table("TensorFlow Python library file(s):", COLOR_GRAY, [row for row in found if row[1]]))
    return output, True


def _table(title, color, files):
    lines = [RichLine(title, color)]
    if not files:
        return rich_text_lines_from_rich_line_list([*lines, RichLine("[No files.]", color), RichLine()])
    heads = ("Source file path", "#(nodes)", "#(tensors)", "#(tensor dumps)")
    rows = [(path, str(nodes), str(tensors), str(dumps)) for path, _, nodes, tensors, dumps, _ in files]
    widths = [max(len(row[i]) for row in [heads, *rows]) + 1 for i in range(3)] + [0]
    lines.append(_row(heads, widths, color, color))
    for row, (path, *_, first_line) in zip(rows, files, strict=True):
        attributes = [color]
        if sources.is_extension_uncompiled_python_source(path):
            attributes.append(MenuItem(None, f"ps {path} -b {first_line}"))
        lines.append(_row(row, widths, color, attributes))
    return rich_text_lines_from_rich_line_list([*lines, RichLine()])


def _row(texts, widths, color, first_attribute):
    line = RichLine(texts[0], first_attribute) + " " * (widths[0] - len(texts[0]))
    for text, width in zip(texts[1:], widths[1:], strict=True):
        line += RichLine(text.ljust(width), color)
    return line

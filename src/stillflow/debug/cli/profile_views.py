"""ProfileAnalyzer: how long the nodes of a run took, as a table and beside the lines of the program."""

from __future__ import annotations

import argparse
import math
import os
import re

from stillflow.debug import sources
from stillflow.debug.cli import command_parser, ui_factory
from stillflow.debug.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from stillflow.debug.cli.screens import COLOR_CYAN, COLOR_YELLOW, TIME_UNITS, time_to_readable_str
from stillflow.debug.profiles import ProfileDatum
from stillflow.names import public_module

public_module("python.debug.cli.profile_analyzer_cli")

# {what to sort by: (head of the column, a function of a ProfileDatum)}
_COLUMNS: dict = {
    "node": ("Node", lambda datum: datum.node_exec_stats.node_name),
    "op_type": ("Op Type", lambda datum: datum.op_type),
    "start_time": ("Start Time (us)", lambda datum: datum.start_time),
    "op_time": ("Op Time ({})", lambda datum: datum.op_time),
    "exec_time": ("Exec Time ({})", lambda datum: datum.exec_time),
    "line": ("Filename:Lineno(function)", lambda datum: datum.file_line_func),
}

_BAR_LENGTH = 10


def _add_filters(parser):
    for letter, what in (("d", "device name"), ("n", "node name"), ("t", "op type")):
        name = what.replace(" ", "_")
        parser.add_argument(f"-{letter}", f"--{name}_filter", default="", help=f"filter {what} by regex.")
    parser.add_argument("--time_unit", default="us", help=f"Time unit ({' | '.join(TIME_UNITS)})")


def _list_parser():
    parser = argparse.ArgumentParser(description="List nodes profile information.", usage=argparse.SUPPRESS)
    _add_filters(parser)
    parser.add_argument(
        "-f", "--file_path_filter", default="",
        help="filter by the file in which the program has made the node.",
    )  # fmt: skip
    parser.add_argument("--min_lineno", type=int, default=-1, help="The first line, from 1 on.")
    parser.add_argument("--max_lineno", type=int, default=-1, help="The line after the last.")
    for letter, name, what in (("e", "execution_time", "execution time"), ("o", "op_time", "op time")):
        parser.add_argument(
            f"-{letter}", f"--{name}", default="",
            help=f"Filter by an interval of {what} in s, ms or us (default), e.g. >100s, <100, [100us,1000ms]",
        )  # fmt: skip
    parser.add_argument(
        "-s", "--sort_by", default="start_time", help=f"the field to sort the data by: ({' | '.join(_COLUMNS)})"
    )
    parser.add_argument("-r", "--reverse", action="store_true", help="sort the data in descending order")
    return parser


def _source_parser():
    parser = argparse.ArgumentParser(
        description="Print a Python source file with line-level profile information", usage=argparse.SUPPRESS
    )
    parser.add_argument("source_file_path", help="The file.")
    parser.add_argument("--cost_type", choices=["exec_time", "op_time"], default="exec_time", help="What to show.")
    _add_filters(parser)
    parser.add_argument("--init_line", type=int, default=0, help="The line to begin with, from 1 on.")
    return parser


def _pattern(text):
    return re.compile(text or "")


def _interval(text):
    return command_parser.parse_time_interval(text) if text else None


class ProfileAnalyzer:
    """Commands over the RunMetadata message of a run that was timed.

    Args:
      graph: the tf.Graph that was run.
      run_metadata: the message.

    Raises ValueError without a message.
    """

    def __init__(self, graph, run_metadata):
        if not run_metadata:
            raise ValueError("No RunMetadata passed for profile analysis.")
        self._run_metadata = run_metadata
        self._parsers = {"list_profile": _list_parser(), "print_source": _source_parser()}
        self._places = {op.name: (*_place(op), op.type) for op in graph.get_operations()}

    def get_help(self, handler_name):
        """The help of a command."""
        return self._parsers[handler_name].format_help()

    def _devices(self, name_filter):
        """[(its number, device, ProfileDatums)]."""
        for i, device in enumerate(self._run_metadata.step_stats.dev_stats):
            if _pattern(name_filter).match(device.device):
                yield i, device.device, [self._datum(device.device, stats) for stats in device.node_stats]

    def _datum(self, device, stats):
        return ProfileDatum(device, stats, *self._places.get(stats.node_name, ("", 0, "", "")))

    # ---- list_profile -------------------------------------------------------------------------------------------

    def list_profile(self, args, screen_info=None):
        """Lists the nodes of each device, with their times."""
        parsed = self._parsers["list_profile"].parse_args(args)
        columns = (screen_info or {}).get("cols", 80)
        node, path, op = map(_pattern, (parsed.node_name_filter, parsed.file_path_filter, parsed.op_type_filter))
        op_time, execution_time = _interval(parsed.op_time), _interval(parsed.execution_time)

        def is_listed(datum):
            line = datum.line_number
            return (
                node.match(datum.node_exec_stats.node_name)
                and (not parsed.file_path_filter or (datum.file_path and path.match(datum.file_path)))
                and (datum.op_type is None or op.match(datum.op_type))
                and not (line and parsed.min_lineno > 0 and line < parsed.min_lineno)
                and not (line and 0 < parsed.max_lineno <= line)
                and (op_time is None or op_time.contains(datum.op_time))
                and (execution_time is None or execution_time.contains(datum.exec_time))
            )

        _, key = _COLUMNS.get(parsed.sort_by, _COLUMNS["start_time"])
        output = RichTextLines([""])
        count = len(self._run_metadata.step_stats.dev_stats)
        for i, device, data in self._devices(parsed.device_name_filter):
            lines = [RichLine("-" * columns), RichLine(f"Device {i + 1} of {count}: {device}"), RichLine()]
            lines += _table(sorted(filter(is_listed, data), key=key, reverse=parsed.reverse), parsed)
            output.extend(rich_text_lines_from_rich_line_list(lines))
        return output

    # ---- print_source -------------------------------------------------------------------------------------------

    def print_source(self, args, screen_info=None):
        """Prints a file of the program, with the times of what was made at its lines."""
        parsed = self._parsers["print_source"].parse_args(args)
        found = sources.annotate_source_against_profile(
            [datum for _, _, data in self._devices(parsed.device_name_filter) for datum in data],
            os.path.expanduser(parsed.source_file_path), parsed.node_name_filter, parsed.op_type_filter,
        )  # fmt: skip
        if not found:
            return RichTextLines([
                f"The source file {parsed.source_file_path} does not contain any profile information for the "
                "previous Session run under the following filters:",
                *[f"  --{name}: {value}" for name, value in _filters(parsed).items()],
            ])  # fmt: skip
        lines, width = sources.load_source(parsed.source_file_path)
        most = max(_cost(profile, parsed) for profile in found.values())
        output = _source_head(parsed, width)
        for number, text in enumerate(lines, 1):
            before = _costs(found.get(number), most, parsed, number)
            label = RichLine(f" L{number}", COLOR_YELLOW)
            output.append_rich_line(before + label + " " * (width - len(label)) + text)
            if number == parsed.init_line:
                output.annotations[INIT_SCROLL_POS_KEY] = output.num_lines() - 1
        return output


def _place(op):
    """(file, line, function) of the program that made a node."""
    found = ("", 0, "")
    for site in reversed(op.traceback):
        found = tuple(site[:3])
        path = found[0]
        if not (sources.is_extension_uncompiled_python_source(path) and sources.guess_is_tensorflow_py_library(path)):
            break
    return found


def _filters(parsed):
    return {name: getattr(parsed, name) for name in ("device_name_filter", "node_name_filter", "op_type_filter")}


def _with_filters(command, parsed):
    return " ".join([command, *[f"--{name} {value}" for name, value in _filters(parsed).items() if value]])


def _table(data, parsed):
    """The RichLines of the table of one device."""
    unit = parsed.time_unit

    def time(value):
        return time_to_readable_str(value, force_time_unit=unit)

    heads = [head.format(unit) for head, _ in _COLUMNS.values()]
    rows = []
    for datum in data:
        values = [get(datum) for _, get in _COLUMNS.values()]
        rows.append([values[0], values[1], str(values[2]), time(values[3]), time(values[4]), values[5]])
    total = ["Device Total", "", time(sum(d.op_time for d in data)), time(sum(d.exec_time for d in data)), "", ""]
    widths = [max(len(row[i]) for row in [heads, total, *rows]) + 2 for i in range(len(heads))]
    head_line = RichLine()
    for key, head, width in zip(_COLUMNS, heads, widths, strict=True):
        reverse = " -r" if parsed.sort_by == key and not parsed.reverse else ""
        item = MenuItem(None, f"list_profile -s {key}{reverse}")
        head_line = head_line + RichLine(head, [item, "bold"]) + " " * (width - len(head))
    lines = [head_line]
    for datum, row in zip(data, rows, strict=True):
        line = RichLine("".join(text.ljust(width) for text, width in zip(row[:-1], widths, strict=False)))
        command = _with_filters("ps", parsed) + f" {datum.file_path} --init_line {datum.line_number}"
        lines.append(line + RichLine(row[-1], MenuItem(None, command)))
    totals = zip(total[:4], widths, strict=False)
    return [*lines, RichLine(), RichLine("".join(text.ljust(width) for text, width in totals))]


def _cost(profile, parsed):
    return profile.total_exec_time if parsed.cost_type == "exec_time" else profile.total_op_time


def _widths(parsed):
    """Of the columns of the bar, the time, and the number of nodes."""
    return _BAR_LENGTH + 3, len(parsed.cost_type) + 3, len("(#execs)") + 1


def _source_head(parsed, width):
    bar, cost, nodes = _widths(parsed)
    first = RichLine(" " * bar + parsed.cost_type.ljust(cost) + "#nodes".ljust(nodes), COLOR_CYAN)
    second = RichLine(" " * (bar + cost) + "(#execs)".ljust(nodes) + " " * width, COLOR_CYAN)
    lines = [first + RichLine("lineno", COLOR_YELLOW), second + RichLine("source", "bold")]
    return rich_text_lines_from_rich_line_list(lines)


def _costs(profile, most, parsed, number):
    """What stands before a line of the program."""
    widths = _widths(parsed)
    if profile is None:
        return RichLine(" " * sum(widths))
    cost = _cost(profile, parsed)
    ticks = max(1, math.ceil(cost / most * _BAR_LENGTH)) if most else 1
    bar = RichLine("[", COLOR_CYAN) + RichLine(("|" * ticks).ljust(_BAR_LENGTH), ["bold", COLOR_CYAN])
    bar = bar + RichLine("]", COLOR_CYAN)
    time = RichLine(time_to_readable_str(cost, force_time_unit=parsed.time_unit), COLOR_CYAN)
    path = re.escape(parsed.source_file_path)
    command = f"lp --file_path_filter {path}$ --min_lineno {number} --max_lineno {number + 1}"
    item = MenuItem(None, _with_filters(command, parsed))
    nodes = RichLine(f"{profile.node_count}({profile.node_exec_count})", [COLOR_CYAN, item])
    line = RichLine()
    for cell, width in zip((bar, time, nodes), widths, strict=True):
        line = line + cell + " " * (width - len(cell))
    return line


def create_profiler_ui(graph, run_metadata, ui_type="curses", on_ui_exit=None, config=None):
    """A command line with the commands of ProfileAnalyzer. Raises ValueError for another `ui_type`."""
    analyzer = ProfileAnalyzer(graph, run_metadata)
    cli = ui_factory.get_ui(ui_type, on_ui_exit=on_ui_exit, config=config)
    for command, alias in (("list_profile", "lp"), ("print_source", "ps")):
        cli.register_command_handler(command, getattr(analyzer, command), analyzer.get_help(command), [alias])
    return cli

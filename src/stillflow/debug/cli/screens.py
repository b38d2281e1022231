"""What several commands show: tensors, errors, and what is said before a run and after one that failed."""

from __future__ import annotations

import math

import numpy as np

from stillflow.debug.cli import command_parser, tensor_format
from stillflow.debug.cli.rich_text import (
    MAIN_MENU_KEY,
    Menu,
    MenuItem,
    RichLine,
    RichTextLines,
    rich_text_lines_from_rich_line_list,
)
from stillflow.debug.run_keys import get_flattened_names, get_graph_element_name
from stillflow.files import gfile
from stillflow.graph.operation import Operation, Tensor
from stillflow.names import public_module
from stillflow.variables.variable import Variable

public_module("python.debug.cli.cli_shared")

DEFAULT_NDARRAY_DISPLAY_THRESHOLD = 2000

COLOR_BLACK = "black"
COLOR_BLUE = "blue"
COLOR_CYAN = "cyan"
COLOR_GRAY = "gray"
COLOR_GREEN = "green"
COLOR_MAGENTA = "magenta"
COLOR_RED = "red"
COLOR_WHITE = "white"
COLOR_YELLOW = "yellow"

TIME_UNIT_US = "us"
TIME_UNIT_MS = "ms"
TIME_UNIT_S = "s"
TIME_UNITS = [TIME_UNIT_US, TIME_UNIT_MS, TIME_UNIT_S]

_BAR = "======================================"
_THIN_BAR = "--------------------------------------"


def bytes_to_readable_str(num_bytes, include_b=False):
    """A number of bytes as text, "1.50k"; with a B at the end if wished. "None" for None."""
    if num_bytes is None:
        return "None"
    for limit, unit in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "k")):
        if num_bytes >= limit:
            return f"{num_bytes / limit:.2f}{unit}{'B' if include_b else ''}"
    return f"{num_bytes}{'B' if include_b else ''}"


def time_to_readable_str(value_us, force_time_unit=None):
    """A number of microseconds as text, in the unit that is given or fits. Raises ValueError for other units."""
    if not value_us:
        return "0"
    if force_time_unit is None:
        order = min(len(TIME_UNITS) - 1, int(math.log(value_us, 10) / 3))
        return f"{value_us / 1000.0**order:.3g}{TIME_UNITS[order]}"
    if force_time_unit not in TIME_UNITS:
        raise ValueError(f"Invalid time unit: {force_time_unit}")
    return f"{value_us / 1000.0 ** TIME_UNITS.index(force_time_unit):.10g}{force_time_unit}"


def parse_ranges_highlight(ranges_string):
    """HighlightOptions for elements within ranges, None without a text. See command_parser.parse_ranges."""
    if not ranges_string:
        return None
    ranges = command_parser.parse_ranges(ranges_string)

    def is_within(array):
        return np.any([(array >= first) & (array <= last) for first, last in ranges], axis=0)

    return tensor_format.HighlightOptions(is_within, description=ranges_string)


def numpy_printoptions_from_screen_info(screen_info):
    """Arguments of numpy.set_printoptions for a screen, {"cols": its width} or None."""
    return {"linewidth": screen_info["cols"]} if screen_info and "cols" in screen_info else {}


def format_tensor(
    tensor, tensor_name, np_printoptions, print_all=False, tensor_slicing=None, highlight_options=None,
    include_numeric_summary=False, write_path=None,
):  # fmt: skip
    """A tensor, or a part of it, as RichTextLines.

    Args:
      tensor: an array.
      tensor_name: its name.
      np_printoptions: arguments of numpy.set_printoptions.
      print_all: whether to leave nothing out.
      tensor_slicing: the part, "[1, :]".
      highlight_options, include_numeric_summary: see tensor_format.format_tensor.
      write_path: a file to write the array to, with numpy.save.

    Raises ValueError for a part that is no such text, tf.errors.OpError if the file cannot be written.
    """
    if tensor_slicing:
        tensor = command_parser.evaluate_tensor_slice(tensor, tensor_slicing)
        tensor_name += tensor_slicing
    message = None
    if write_path:
        with gfile.GFile(write_path, "wb") as file:
            np.save(file, tensor)
        size = bytes_to_readable_str(gfile.Stat(write_path).length)
        line = RichLine("Saved value to: ") + RichLine(write_path, font_attr="bold") + f" ({size}B)"
        message = rich_text_lines_from_rich_line_list([line, RichLine("")])
    threshold = np.size(tensor) if print_all else DEFAULT_NDARRAY_DISPLAY_THRESHOLD
    return tensor_format.format_tensor(
        tensor, tensor_name, include_metadata=True, include_numeric_summary=include_numeric_summary,
        auxiliary_message=message, np_printoptions={**np_printoptions, "threshold": threshold},
        highlight_options=highlight_options,
    )  # fmt: skip


def error(msg):
    """An error as RichTextLines."""
    return rich_text_lines_from_rich_line_list([RichLine(f"ERROR: {msg}", COLOR_RED)])


def _recommended(command, description, create_link=False):
    attribute = [MenuItem("", command), "bold"] if create_link else "bold"
    lines = [RichLine("  ") + RichLine(command, attribute) + ":", f"    {description}"]
    return rich_text_lines_from_rich_line_list(lines)


def get_tfdbg_logo():
    """The letters that the first screen begins with."""
    return RichTextLines(["", "tfdbg", "-----", ""])


def get_run_start_intro(run_call_count, fetches, feed_dict, tensor_filters, is_callable_runner=False):
    """What is said before a run, as RichTextLines: what it fetches and feeds, and how to go on."""
    out = RichTextLines(_BAR)
    if is_callable_runner:
        out.append("Running a runner returned by Session.make_callable()")
    else:
        out.append(f"Session.run() call #{run_call_count}:")
        out.append("")
        out.append("Fetch(es):")
        out.extend(RichTextLines([f"  {name}" for name in get_flattened_names(fetches)]))
        out.append("")
        out.append("Feed dict:")
        for key in feed_dict or ():
            name = get_graph_element_name(key)
            out.append_rich_line(RichLine("  ") + RichLine(name, MenuItem(None, f"pf '{name}'")))
        if not feed_dict:
            out.append("  (Empty)")
    out.append(_BAR)
    out.append("")
    out.append("Select one of the following commands to proceed ---->")
    out.extend(_recommended("run", "Execute the run() call with debug tensor-watching", create_link=True))
    out.extend(_recommended("run -n", "Execute the run() call without debug tensor-watching", create_link=True))
    out.extend(
        _recommended("run -t <T>", "Execute T - 1 run() calls without debugging, then one with it, and come back")
    )
    out.extend(
        _recommended("run -f <filter_name>", "Execute run() calls until a dumped tensor passes a registered filter")
    )
    out.append("    Registered filter(s):")
    for name in tensor_filters or ():
        out.append_rich_line(RichLine("        * ") + RichLine(name, MenuItem("", f"run -f {name}")))
    if not tensor_filters:
        out.append("        (None)")
    out.append("")
    out.append_rich_line(RichLine("For more details, see ") + RichLine("help", MenuItem("", "help")) + ".")
    out.append("")
    menu = Menu()
    menu.append(MenuItem("run", "run"))
    menu.append(MenuItem("exit", "exit"))
    out.annotations[MAIN_MENU_KEY] = menu
    return out


def get_run_short_description(run_call_count, fetches, feed_dict, is_callable_runner=False):
    """A run in a line: "run #1: 1 fetch (a:0); 2 feeds"."""
    if is_callable_runner:
        return "runner from make_callable()"
    if isinstance(fetches, (Tensor, Operation, Variable)):
        fetched = f"1 fetch ({get_graph_element_name(fetches)})"
    else:
        count = len(get_flattened_names(fetches))
        fetched = f"{count} fetch{'es' if count > 1 else ''}"
    keys = list(feed_dict or ())
    fed = f"1 feed ({get_graph_element_name(keys[0])})" if len(keys) == 1 else f"{len(keys)} feeds"
    return f"run #{run_call_count}: {fetched}; {fed}"


def get_error_intro(tf_error):
    """What is said of a run that failed, as RichTextLines: the error, and how to find its cause."""
    op_name = getattr(getattr(tf_error, "op", None), "name", None)
    title = RichLine("!!! An error occurred during the run !!!", "blink")
    out = rich_text_lines_from_rich_line_list([_THIN_BAR, title, ""])
    if op_name is None:
        out.append("WARNING: Cannot determine the name of the op that caused the error.")
    else:
        out.append("You may use the following commands to debug:")
        out.extend(_recommended(f"ni -a -d -t {op_name}", "Inspect information about the failing op.", True))
        out.extend(_recommended(f"li -r {op_name}", "List inputs to the failing op, recursively.", True))
        out.extend(_recommended("lt", "List all tensors dumped during the failing run() call.", True))
    lines = ["", f"Op name:    {op_name}", f"Error type: {type(tf_error)}", "", "Details:", str(tf_error), ""]
    out.extend(RichTextLines([*lines, _THIN_BAR, ""]))
    return out

"""What the command line is made of: lines, commands, words, tensors as text, and the whole screen."""

import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time

import numpy as np
import pytest
from stillflow.python.debug.cli import (
    cli_shared,
    command_parser,
    debugger_cli_common,
    evaluator,
    tensor_format,
    ui_factory,
)

Lines = debugger_cli_common.RichTextLines


def test_lines_are_put_together_with_their_attributes():
    line = debugger_cli_common.RichLine("a ", "bold") + "b " + debugger_cli_common.RichLine("c", "red")
    assert (line.text, line.font_attr_segs) == ("a b c", [(0, 2, "bold"), (4, 5, "red")])
    lines = Lines(["first"], annotations={0: "note", "key": 1})
    lines.append_rich_line(line)
    lines.prepend("title", [(0, 5, "bold")])
    assert lines.lines == ["title", "first", "a b c"]
    assert lines.font_attr_segs == {0: [(0, 5, "bold")], 2: [(0, 2, "bold"), (4, 5, "red")]}
    assert lines.annotations == {1: "note", "key": 1}
    part = lines.slice(1, 3)
    assert (part.font_attr_segs, part.annotations) == ({1: [(0, 2, "bold"), (4, 5, "red")]}, {0: "note", "key": 1})


def test_lines_are_wrapped():
    wrapped, firsts = debugger_cli_common.wrap_rich_text_lines(
        Lines(["abcdef", "", "gh"], {0: [(1, 5, "bold")]}, {2: "note"}), 4
    )
    assert wrapped.lines == ["abcd", "ef", "", "gh"]
    assert wrapped.font_attr_segs == {0: [(1, 4, "bold")], 1: [(0, 1, "bold")]}
    assert (firsts, wrapped.annotations) == ([0, 2, 3], {3: "note"})


def test_matches_are_marked():
    found = debugger_cli_common.regex_find(Lines(["ab", "b"], {0: [(0, 1, "red")]}), "b", "bold")
    assert found.font_attr_segs == {0: [(0, 1, "red"), (1, 2, "bold")], 1: [(0, 1, "bold")]}
    assert found.annotations == {debugger_cli_common.REGEX_MATCH_LINES_KEY: [0, 1]}
    with pytest.raises(ValueError, match="Invalid regular expression"):
        debugger_cli_common.regex_find(Lines([]), "(", "bold")


def test_commands_and_their_errors():
    registry = debugger_cli_common.CommandHandlerRegistry()

    def fail(args, screen_info=None):
        raise KeyError("k")

    registry.register_command_handler("fail", fail, "Fails.", ["f"])
    assert registry.get_help("f").lines == ["fail", "  Aliases: f", "", "  Fails."]
    lines = registry.dispatch_command("f", ["-x"]).lines
    assert lines[:2] == ["Error occurred during handling of command: fail -x:", "<class 'KeyError'>: 'k'"]
    with pytest.raises(ValueError, match="clashes"):
        registry.register_command_handler("other", fail, "", ["f"])
    with pytest.raises(ValueError, match="No handler is registered"):
        registry.dispatch_command("other", [])


def test_history_is_kept_in_a_file(tmp_path):
    path = str(tmp_path / "history")
    history = debugger_cli_common.CommandHistory(limit=2, history_file_path=path)
    for command in ("a", "b", "b", "ab"):
        history.add_command(command)
    assert debugger_cli_common.CommandHistory(limit=2, history_file_path=path).most_recent_n(5) == ["b", "ab"]
    assert history.lookup_prefix("a", 3) == ["ab"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("  pt  a:0[1, :] -a ", ["pt", "a:0[1, :]", "-a"]),
        ("eval 'x + 1' \"y z\"", ["eval", "x + 1", "y z"]),
        ("", []),
        ("lp -e [1us, 2ms]", ["lp", "-e", "[1us, 2ms]"]),
    ],
)
def test_words_of_commands(text, words):
    assert command_parser.parse_command(text) == words


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["lt", ">", "f"], (["lt"], "f")),
        (["lt", ">f"], (["lt"], "f")),
        (["lt>f"], (["lt"], "f")),
        (["lt>", "f"], (["lt"], "f")),
        (["lp", "-e", ">100ms"], (["lp", "-e", ">100ms"], None)),
        (["lp", "--execution_time=>100ms"], (["lp", "--execution_time=>100ms"], None)),
        ([], ([], None)),
    ],
)
def test_output_goes_to_files(words, found):
    assert command_parser.extract_output_file_path(words) == found


def test_intervals_sizes_and_times():
    interval = command_parser.parse_time_interval("(1ms, 2s]")
    assert [interval.contains(value) for value in (1000, 1001, 2_000_000, 2_000_001)] == [False, True, True, False]
    assert command_parser.parse_memory_interval(">=1.5k").contains(1536)
    for text, message in (("[1, 2", "Invalid interval format"), ("[2, 1]", "Start of interval"), ("<a", "after <")):
        with pytest.raises(ValueError, match=message):
            command_parser.parse_memory_interval(text)
    assert cli_shared.bytes_to_readable_str(1536, include_b=True) == "1.50kB"
    assert [cli_shared.time_to_readable_str(time) for time in (0, 999, 1500, 2_500_000)] == [
        "0",
        "999us",
        "1.5ms",
        "2.5s",
    ]


def test_parts_of_tensors():
    array = np.arange(12).reshape(3, 4)
    assert command_parser.evaluate_tensor_slice(array, "[1, ::2]").tolist() == [4, 6]
    for text in ("[a]", "1", "[1:2:3:4]", "[]"):
        with pytest.raises(ValueError, match="Invalid tensor-slicing string|invalid literal"):
            command_parser.evaluate_tensor_slice(array, text)


def test_elements_are_found_in_the_text():
    lines = tensor_format.format_tensor(
        np.arange(20000.0).reshape(100, 200), "a", np_printoptions={"threshold": 1000}
    )
    for indices, number in (([0, 1], "1.0000e+00"), ([99, 199], "1.9999e+04"), ([1, 0], "2.0000e+02")):
        is_omitted, row, begin, end = tensor_format.locate_tensor_element(lines, indices)
        assert not is_omitted
        if begin is not None:  # after an ellipsis nothing is found
            assert lines.lines[row][begin:end] == number
    assert tensor_format.locate_tensor_element(lines, [50, 3])[0]
    with pytest.raises(ValueError, match="exceed tensor dimensions"):
        tensor_format.locate_tensor_element(lines, [100, 0])


def test_elements_in_ranges_are_highlighted():
    array = np.array([[1, 20], [300, 4]])
    lines = tensor_format.format_tensor(array, "a", highlight_options=cli_shared.parse_ranges_highlight("[2, 30]"))
    assert lines.lines[0] == 'Tensor "a": Highlighted([2, 30]): 2 of 4 element(s) (50.00%)'
    marked = [lines.lines[row][a:b] for row in (2, 3) for a, b, attr in lines.font_attr_segs.get(row, ())]
    assert marked == ["20", "4"]


def test_summaries():
    assert tensor_format.numeric_summary(np.array([np.nan, -np.inf, -1.0, 1.0])).lines == [
        "|  nan -inf    -    + | total |",
        "|    1    1    1    1 |     4 |",
        "|  min  max mean  std |",
        "| -1.0  1.0  0.0  1.0 |",
    ]
    assert tensor_format.numeric_summary(np.array([True, True])).lines == ["| True | total |", "|    2 |     2 |"]
    assert "empty" in tensor_format.numeric_summary(np.zeros([0])).lines[0]
    assert "complex64" in tensor_format.numeric_summary(np.zeros([1], np.complex64)).lines[0]


class _Dump:
    def get_tensors(self, node, slot, debug_op, device_name=None):
        return [(node, slot, debug_op, device_name), 2]


def test_names_in_expressions():
    found = evaluator.ExpressionEvaluator(_Dump())
    assert found.evaluate("`a/b:1`[0] + `a/b:1`[2]") == "a/bDebugIdentity"
    assert found.evaluate("`a:0[1]` * 3") == 6
    device = "/job:w/replica:0/task:1/device:CPU:0"
    assert found.evaluate(f"`{device}:a:0:DebugNanCount`") == ("a", 0, "DebugNanCount", device)
    with pytest.raises(ValueError, match="malformed"):
        found.evaluate("`a`")


def test_without_a_terminal_there_are_lines(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    assert type(ui_factory.get_ui("curses")).__name__ == "ReadlineUI"
    with pytest.raises(ValueError, match="Invalid ui_type: 'gtk'"):
        ui_factory.get_ui("gtk")


_PROGRAM = """
import stillflow as tf
from stillflow.python import debug as tf_debug
y = tf.multiply([1.0, 2.0], 3.0, name="y")
print("RESULT", tf_debug.LocalCLIDebugWrapperSession(tf.Session()).run(y))
"""


class _Terminal:
    """A program on a terminal of 30 lines."""

    def __init__(self, environment):
        self._end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self._program = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM], stdin=other, stdout=other, stderr=other, env=environment,
            start_new_session=True,
        )  # fmt: skip
        os.close(other)
        self.shown = b""

    def expect(self, text):
        """Waits until a text is shown that was not before."""
        begin, limit = len(self.shown), time.monotonic() + 60
        while text not in self.shown[begin:]:
            assert time.monotonic() < limit, self.shown[-2000:]
            if select.select([self._end], [], [], 0.5)[0]:
                self.shown += os.read(self._end, 65536)

    def enter(self, keys):
        os.write(self._end, keys)

    def close(self):
        self._program.kill()
        self._program.wait()
        os.close(self._end)


def test_the_whole_screen(tmp_path):
    terminal = _Terminal({**os.environ, "HOME": str(tmp_path), "TERM": "xterm", "LINES": "30", "COLUMNS": "100"})
    try:
        terminal.expect(b"has_inf_or_nan")
        terminal.enter(b"ru\t -n\x7f\x7f\x7f\n")  # completed, and a flag taken back
        terminal.expect(b"3 dumped")
        terminal.enter(b"pt y:0\n")
        terminal.expect(b"array([3., 6.]")
        terminal.enter(b"nothing\n")
        terminal.expect(b"Invalid command prefix")
        terminal.enter(b"run -n\n")
        terminal.expect(b"RESULT [3. 6.]")
    finally:
        terminal.close()
    assert (tmp_path / ".tfdbg_history").read_text().splitlines() == [
        "run_info",
        "run",
        "lt",
        "pt y:0",
        "nothing",
        "run -n",
    ]

"""CursesUI: the command line on the whole screen of a terminal.

title
what the last command has shown, which can be scrolled
a line that says how to go on
tfdbg> command
"""

from __future__ import annotations

import curses
from typing import Any

from stillflow import errors
from stillflow.debug.cli.base_ui import BaseUI
from stillflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandHistory, CommandLineExit
from stillflow.debug.cli.rich_text import (
    INIT_SCROLL_POS_KEY,
    REGEX_MATCH_LINES_KEY,
    MenuItem,
    RichTextLines,
    regex_find,
    wrap_rich_text_lines,
)
from stillflow.names import public_module

public_module("python.debug.cli.curses_ui")

_COLORS = ("white", "red", "green", "yellow", "blue", "magenta", "cyan")
_SCROLLS = {curses.KEY_PPAGE: -1, curses.KEY_NPAGE: 1}
_ENTER = (curses.KEY_ENTER, ord("\n"), ord("\r"))
_BACKSPACE = (curses.KEY_BACKSPACE, 127, 8)
_HINT = "PageUp/PageDown, Home/End: scroll. Up/Down: earlier commands. Tab: complete. /word: search, n: next. exit"


class CursesUI(BaseUI):
    """Shows what commands print on the whole screen. Earlier commands are kept in a file."""

    def __init__(self, on_ui_exit=None, config=None):
        super().__init__(on_ui_exit, config)
        self._history = CommandHistory()
        self._screen: Any = None
        self._title = ""
        self._output = RichTextLines([])  # of the last command
        self._wrapped = RichTextLines([])  # the same in lines as wide as the screen
        self._top = 0  # the first line that is seen
        self._message = _HINT
        self._attributes: dict = {}

    def run_ui(self, init_command=None, title=None, title_color=None, enable_mouse_on_start=True):
        """Shows the screen until a command ends it. Returns what that one says.

        Args:
          init_command: the command to begin with.
          title: the first line of the screen.
          title_color: not used.
          enable_mouse_on_start: not used: the terminal's own marking stays as it is.

        Raises curses.error if there is no terminal.
        """
        self._title = title or ""
        try:
            return curses.wrapper(self._loop, init_command)
        finally:
            self._screen = None
            if self._on_ui_exit:
                self._on_ui_exit()

    def _loop(self, screen, init_command):
        self._screen = screen
        self._prepare_colors()
        exit_token = self._dispatch_command(init_command) if init_command else None
        while exit_token is None:
            try:
                exit_token = self._dispatch_command(self._read_command())
            except KeyboardInterrupt:
                self._message = "Interrupted. Enter exit to leave."
        return exit_token

    def _prepare_colors(self):
        self._attributes = {"bold": curses.A_BOLD, "underline": curses.A_UNDERLINE, "blink": curses.A_BLINK}
        if curses.has_colors():
            curses.use_default_colors()
            for number, color in enumerate(_COLORS, 1):
                curses.init_pair(number, getattr(curses, f"COLOR_{color.upper()}"), -1)
                self._attributes[color] = curses.color_pair(number)

    # ---- Commands -----------------------------------------------------------------------------------------------

    def _dispatch_command(self, command):
        """Carries out a command. Returns what it says if it ends the screen, otherwise None."""
        self._message = _HINT
        if not command:
            return None
        self._history.add_command(command)
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        if command == "n" or command.startswith("/"):
            self._search(command.removeprefix("/") if command != "n" else None)
            return None
        try:
            prefix, args, path = self._parse_command(command)
            if not self._command_handler_registry.is_registered(prefix):
                self._show(RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"']))
                return None
            info = {"cols": self._width()}
            output = self._command_handler_registry.dispatch_command(prefix, args, screen_info=info)
        except SyntaxError as error:
            self._message = f"{self.ERROR_MESSAGE_PREFIX}{error}"
            return None
        except CommandLineExit as leave:
            return leave.exit_token
        if output is not None:
            self._show(output)
            self._write(output, path)
        return None

    def _write(self, output, path):
        if path is None:
            return
        try:
            output.write_to_file(path)
            self._message = f"{self.INFO_MESSAGE_PREFIX}Wrote output to {path}"
        except errors.OpError:
            self._message = f"{self.ERROR_MESSAGE_PREFIX}Failed to write output to {path}"

    def _search(self, pattern):
        """Marks the matches of a regular expression and goes to the first after the top; None goes on to the next."""
        if pattern:
            try:
                self._output = regex_find(self._output, pattern, "underline")
            except ValueError as error:
                self._message = f"{self.ERROR_MESSAGE_PREFIX}{error}"
                return
        top = self._top
        self._wrapped, firsts = wrap_rich_text_lines(self._output, self._width())
        found = [firsts[line] for line in self._output.annotations.get(REGEX_MATCH_LINES_KEY, ())]
        later = [line for line in found if line > top] or found
        if later:
            self._scroll_to(later[0])
        else:
            self._message = f"{self.INFO_MESSAGE_PREFIX}Pattern not found"

    # ---- The screen ---------------------------------------------------------------------------------------------

    def _width(self):
        return max(1, self._screen.getmaxyx()[1] - 1)

    def _height(self):
        """Of the part that shows output."""
        return max(1, self._screen.getmaxyx()[0] - 3)

    def _show(self, output):
        self._output = output
        self._wrapped, firsts = wrap_rich_text_lines(output, self._width())
        begin = output.annotations.get(INIT_SCROLL_POS_KEY, 0)
        self._scroll_to(firsts[begin] if begin < len(firsts) else 0)

    def _scroll_to(self, line):
        self._top = max(0, min(line, self._wrapped.num_lines() - self._height()))

    def _draw(self, command):
        self._screen.erase()
        width, height = self._width(), self._height()
        self._put(0, self._title[:width].ljust(width), curses.A_REVERSE)
        for row in range(height):
            number = self._top + row
            if number >= self._wrapped.num_lines():
                break
            text = self._wrapped.lines[number]
            self._put(row + 1, text)
            for begin, end, attributes in self._wrapped.font_attr_segs.get(number, ()):
                self._put(row + 1, text[begin:end], self._attribute(attributes), begin)
        last = min(self._top + height, self._wrapped.num_lines())
        place = f" lines {self._top + 1}-{last} of {self._wrapped.num_lines()} "
        self._put(height + 1, (place + self._message)[:width].ljust(width), curses.A_DIM)
        prompt = self.CLI_PROMPT + command
        self._put(height + 2, prompt[-width:])
        self._screen.move(height + 2, min(len(prompt), width))
        self._screen.refresh()

    def _put(self, row, text, attribute=0, column=0):
        if row < self._screen.getmaxyx()[0]:
            self._screen.addnstr(row, column, text, max(0, self._width() - column), attribute)

    def _attribute(self, attributes):
        found = 0
        for attribute in attributes if isinstance(attributes, list) else [attributes]:
            found |= curses.A_UNDERLINE if isinstance(attribute, MenuItem) else self._attributes.get(attribute, 0)
        return found

    # ---- The keyboard -------------------------------------------------------------------------------------------

    def _read_command(self):
        command = ""
        back = 0  # how many commands ago
        while True:
            self._draw(command)
            key = self._screen.getch()
            if key in _ENTER:
                return command.strip()
            if key in _BACKSPACE:
                command = command[:-1]
            elif key in (curses.KEY_UP, curses.KEY_DOWN):
                commands = self._history.most_recent_n(100)
                back = max(0, min(len(commands), back + (1 if key == curses.KEY_UP else -1)))
                command = commands[-back] if back else ""
            elif key == ord("\t"):
                command = self._completed(command)
            elif key in _SCROLLS:
                self._scroll_to(self._top + _SCROLLS[key] * self._height())
            elif key in (curses.KEY_HOME, curses.KEY_END):
                self._scroll_to(0 if key == curses.KEY_HOME else self._wrapped.num_lines())
            elif key == curses.KEY_RESIZE:
                self._show(self._output)
            elif 32 <= key < 127:
                command += chr(key)

    def _completed(self, command):
        """A command with what all its completions have in common; they are shown if there are several."""
        context, prefix, before = self._analyze_tab_complete_input(command)
        candidates, common = self._tab_completion_registry.get_completions(context, prefix)
        if not candidates:
            return command
        if len(candidates) > 1:
            self._message = "  ".join(candidates)
        return before + common

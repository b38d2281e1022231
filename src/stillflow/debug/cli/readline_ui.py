"""ReadlineUI: the command line on any terminal, line by line."""

from __future__ import annotations

import contextlib

from stillflow import errors
from stillflow.debug.cli.base_ui import BaseUI
from stillflow.debug.cli.commands import EXPLICIT_USER_EXIT, CommandLineExit
from stillflow.debug.cli.rich_text import RichTextLines
from stillflow.names import public_module

public_module("python.debug.cli.readline_ui")


class ReadlineUI(BaseUI):
    """Reads commands, which Python's readline completes where it is, and prints what they show."""

    def __init__(self, on_ui_exit=None, config=None):
        super().__init__(on_ui_exit, config)
        self._input = input
        with contextlib.suppress(ImportError):
            import readline

            readline.parse_and_bind("set editing-mode emacs")
            readline.set_completer_delims("\n")
            readline.set_completer(self._readline_complete)
            readline.parse_and_bind("tab: complete")

    def _readline_complete(self, text, state):
        context, prefix, before = self._analyze_tab_complete_input(text)
        candidates, _ = self._tab_completion_registry.get_completions(context, prefix)
        return before + candidates[state] if candidates and state < len(candidates) else None

    def run_ui(self, init_command=None, title=None, title_color=None, enable_mouse_on_start=True):
        """Prints a title and carries out commands, `init_command` first, until one of them ends it.

        Returns what that one says. Raises EOFError if standard input ends.
        """
        print(title)
        if init_command is not None:
            self._dispatch_command(init_command)
        exit_token = None
        while exit_token is None:
            exit_token = self._dispatch_command(self._get_user_command())
        if self._on_ui_exit:
            self._on_ui_exit()
        return exit_token

    def _get_user_command(self):
        print("")
        return self._input(self.CLI_PROMPT).strip()

    @staticmethod
    def _display_output(screen_output):
        print("\n".join(screen_output.lines))

    def _dispatch_command(self, command):
        """Carries out a command. Returns what it says if it ends the command line, otherwise None."""
        if command in self.CLI_EXIT_COMMANDS:
            return EXPLICIT_USER_EXIT
        try:
            prefix, args, path = self._parse_command(command)
        except SyntaxError as error:
            print(error)
            return None
        if self._command_handler_registry.is_registered(prefix):
            try:
                output = self._command_handler_registry.dispatch_command(prefix, args, screen_info=None)
            except CommandLineExit as leave:
                return leave.exit_token
        else:
            output = RichTextLines([f'{self.ERROR_MESSAGE_PREFIX}Invalid command prefix "{prefix}"'])
        if output is not None:
            self._display_output(output)
            self._write(output, path)
        return None

    @staticmethod
    def _write(output, path):
        if path is None:
            return
        try:
            output.write_to_file(path)
            print(f"Wrote output to {path}")
        except errors.OpError:
            print(f"Failed to write output to {path}")

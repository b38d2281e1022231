"""What every command line has: commands and their help, completions, and what was entered before."""

from __future__ import annotations

import os
import traceback

import numpy as np

from stillflow.debug.cli.rich_text import (  # noqa: F401  names of this module in TensorFlow
    INIT_SCROLL_POS_KEY,
    MAIN_MENU_KEY,
    REGEX_MATCH_LINES_KEY,
    Menu,
    MenuItem,
    RichLine,
    RichTextLines,
    regex_find,
    rich_text_lines_from_rich_line_list,
    wrap_rich_text_lines,
)
from stillflow.names import public_module
from stillflow.names.namespace import find

public_module("python.debug.cli.debugger_cli_common")

HELP_INDENT = "  "

EXPLICIT_USER_EXIT = "explicit_user_exit"


class CommandLineExit(Exception):
    """A command ends the command line; `exit_token` says what is done then."""

    def __init__(self, exit_token=None):
        super().__init__()
        self._exit_token = exit_token

    @property
    def exit_token(self):
        """What the command line returns."""
        return self._exit_token


def get_tensorflow_version_lines(include_dependency_versions=False):
    """The version of TensorFlow that programs see, and if wished that of numpy."""
    lines = [f"TensorFlow version: {find('VERSION')}", ""]
    if include_dependency_versions:
        lines += ["Dependency version(s):", f"  numpy: {np.__version__}", ""]
    return RichTextLines(lines)


class CommandHandlerRegistry:
    """Commands: names and aliases, functions that carry them out, and help."""

    HELP_COMMAND = "help"
    HELP_COMMAND_ALIASES = ["h"]
    VERSION_COMMAND = "version"
    VERSION_COMMAND_ALIASES = ["ver"]

    def __init__(self):
        self._handlers: dict = {}
        self._help: dict = {}
        self._aliases: dict = {}  # command -> its aliases
        self._commands: dict = {}  # alias -> command
        self._help_intro = None
        self.register_command_handler(
            self.HELP_COMMAND, self._help_handler, "Print this help message.", self.HELP_COMMAND_ALIASES
        )
        self.register_command_handler(
            self.VERSION_COMMAND, self._version_handler,
            "Print the versions of TensorFlow and its key dependencies.", self.VERSION_COMMAND_ALIASES,
        )  # fmt: skip

    def register_command_handler(self, prefix, handler, help_info, prefix_aliases=None):
        """Adds a command.

        Args:
          prefix: its name.
          handler: a function of (arguments, screen_info=...) that returns RichTextLines or None.
          help_info: its help, a text.
          prefix_aliases: other names.

        Raises ValueError for a name that is empty or taken, and for arguments of other types.
        """
        if not prefix:
            raise ValueError("Empty command prefix")
        if prefix in self._handlers:
            raise ValueError(f'A handler is already registered for command prefix "{prefix}"')
        if not callable(handler):
            raise ValueError("handler is not callable")
        if not isinstance(help_info, str):
            raise ValueError("help_info is not a str")
        for alias in prefix_aliases or ():
            if self._resolve(alias) is not None:
                raise ValueError(f'The prefix alias "{alias}" clashes with existing prefixes or aliases.')
            self._commands[alias] = prefix
        if prefix_aliases:
            self._aliases[prefix] = prefix_aliases
        self._handlers[prefix] = handler
        self._help[prefix] = help_info

    def _resolve(self, name):
        return name if name in self._handlers else self._commands.get(name)

    def is_registered(self, prefix):
        """Whether there is a command of that name or alias."""
        return self._resolve(prefix) is not None

    def dispatch_command(self, prefix, argv, screen_info=None):
        """Carries out a command. Its errors become lines, but for CommandLineExit.

        Raises ValueError if there is no such command, or if it returns something else than RichTextLines or None.
        """
        if not prefix:
            raise ValueError("Prefix is empty")
        command = self._resolve(prefix)
        if command is None:
            raise ValueError(f'No handler is registered for command prefix "{prefix}"')
        handler = self._handlers[command]
        try:
            output = handler(argv, screen_info=screen_info)
        except CommandLineExit:
            raise
        except SystemExit:  # of argparse
            return RichTextLines([f"Syntax error for command: {prefix}", f'For help, do "help {prefix}"'])
        except BaseException as error:
            lines = [
                f"Error occurred during handling of command: {command} {' '.join(argv)}:",
                f"{type(error)}: {error}",
                "",
                *traceback.format_exc().split("\n"),
            ]
            return RichTextLines(lines)
        if output is not None and not isinstance(output, RichTextLines):
            raise ValueError(f"Return value from command handler {handler} is not None or a RichTextLines instance")
        return output

    def set_help_intro(self, help_intro):
        """RichTextLines that help begins with."""
        self._help_intro = help_intro

    def get_help(self, cmd_prefix=None):
        """The help of a command, or of all, as RichTextLines."""
        if cmd_prefix:
            return RichTextLines(self._help_lines(cmd_prefix))
        lines = RichTextLines([])
        if self._help_intro:
            lines.extend(self._help_intro)
        for command in sorted(self._handlers):
            lines.extend(RichTextLines([*self._help_lines(command), "", ""]))
        return lines

    def _help_lines(self, name):
        command = self._resolve(name)
        if command is None:
            return [f'Invalid command prefix: "{name}"']
        lines = [command]
        if command in self._aliases:
            lines.append(f"{HELP_INDENT}Aliases: {', '.join(self._aliases[command])}")
        return [*lines, "", *[HELP_INDENT + line for line in self._help[command].split("\n")]]

    def _help_handler(self, args, screen_info=None):
        if len(args) > 1:
            return RichTextLines(["ERROR: help takes only 0 or 1 input argument."])
        return self.get_help(*args)

    @staticmethod
    def _version_handler(args, screen_info=None):
        return get_tensorflow_version_lines(include_dependency_versions=True)


class TabCompletionRegistry:
    """What can follow a word."""

    def __init__(self):
        self._items: dict = {}  # word before -> sorted texts

    def register_tab_comp_context(self, context_words, comp_items):
        """Texts that can follow each of several words. Raises TypeError if either is no list."""
        for name, items in (("context_list", context_words), ("comp_items", comp_items)):
            if not isinstance(items, list):
                raise TypeError(f"Incorrect type in {name}: Expected list, got {type(items)}")
        items = sorted(comp_items)  # of all these words: what is added to one is added to all
        for word in context_words:
            self._items[word] = items

    def deregister_context(self, context_words):
        """Forgets what can follow words. Raises KeyError, and forgets nothing, if one is not known."""
        for word in context_words:
            if word not in self._items:
                raise KeyError(f'Cannot deregister unregistered context word "{word}"')
        for word in context_words:
            del self._items[word]

    def _known(self, word):
        if word not in self._items:
            raise KeyError(f'Context word "{word}" has not been registered')
        return self._items[word]

    def extend_comp_items(self, context_word, new_comp_items):
        """Adds texts that can follow a word. Raises KeyError if it is not known."""
        items = self._known(context_word)
        items += new_comp_items
        items.sort()

    def remove_comp_items(self, context_word, comp_items):
        """Takes texts away. Raises KeyError if the word is not known, ValueError if a text is not there."""
        items = self._known(context_word)
        for item in comp_items:
            items.remove(item)

    def get_completions(self, context_word, prefix):
        """The texts that begin with `prefix`, and what they have in common; (None, None) after an unknown word."""
        if context_word not in self._items:
            return None, None
        found = [item for item in self._items[context_word] if item.startswith(prefix)]
        return found, os.path.commonprefix(found)


class CommandHistory:
    """What was entered before, also in earlier processes: a file keeps it.

    Args:
      limit: how many commands are kept.
      history_file_path: the file; by default .tfdbg_history in the user's folder.
    """

    def __init__(self, limit=100, history_file_path=None):
        self._limit = limit
        self._path = history_file_path or os.path.join(os.path.expanduser("~"), ".tfdbg_history")
        self._commands = self._load()

    def _load(self):
        try:
            with open(self._path) as file:
                commands = [line.strip() for line in file if line.strip()]
            if len(commands) > self._limit:
                commands = commands[-self._limit :]
                with open(self._path, "w") as file:
                    file.writelines(f"{command}\n" for command in commands)
        except FileNotFoundError:
            return []
        except OSError:
            print("WARNING: writing history file failed.")
            return []
        return commands

    def add_command(self, command):
        """Remembers a command, unless it is the same as the one before. Raises TypeError for what is no text."""
        if not isinstance(command, str):
            raise TypeError("Attempt to enter non-str entry to command history")
        if self._commands and command == self._commands[-1]:
            return
        self._commands = [*self._commands, command][-self._limit :]
        try:
            with open(self._path, "a") as file:
                file.write(f"{command}\n")
        except OSError:
            pass  # it is remembered in this process

    def most_recent_n(self, n):
        """The last `n` commands."""
        return self._commands[-n:]

    def lookup_prefix(self, prefix, n):
        """The last `n` commands that begin with a text."""
        return [command for command in self._commands if command.startswith(prefix)][-n:]

"""BaseUI: a command line without a screen: commands, completions and settings."""

from __future__ import annotations

import argparse

from stillflow.debug.cli import command_parser
from stillflow.debug.cli.commands import CommandHandlerRegistry, TabCompletionRegistry
from stillflow.debug.cli.config import CLIConfig
from stillflow.names import public_module

public_module("python.debug.cli.base_ui")


class BaseUI:
    """What command lines have in common.

    Args:
      on_ui_exit: a function that is called when it ends.
      config: a CLIConfig.
    """

    CLI_PROMPT = "tfdbg> "
    CLI_EXIT_COMMANDS = ["exit", "quit"]
    ERROR_MESSAGE_PREFIX = "ERROR: "
    INFO_MESSAGE_PREFIX = "INFO: "

    def __init__(self, on_ui_exit=None, config=None):
        self._on_ui_exit = on_ui_exit
        self._command_handler_registry = CommandHandlerRegistry()
        self._tab_completion_registry = TabCompletionRegistry()
        help_names = [CommandHandlerRegistry.HELP_COMMAND, *CommandHandlerRegistry.HELP_COMMAND_ALIASES]
        self._tab_completion_registry.register_tab_comp_context([""], self.CLI_EXIT_COMMANDS + help_names)
        self._config = config or CLIConfig()
        self._config_arguments = argparse.ArgumentParser(description="config command", usage=argparse.SUPPRESS)
        commands = self._config_arguments.add_subparsers()
        set_arguments = commands.add_parser("set")
        set_arguments.add_argument("property_name", type=str)
        set_arguments.add_argument("property_value", type=str)
        commands.add_parser("show")
        self.register_command_handler("config", self._handle_config, self._config_arguments.format_help(), ["cfg"])

    @property
    def config(self):
        """The settings, a CLIConfig."""
        return self._config

    def set_help_intro(self, help_intro):
        """RichTextLines that help begins with."""
        self._command_handler_registry.set_help_intro(help_intro)

    def register_command_handler(self, prefix, handler, help_info, prefix_aliases=None):
        """Adds a command. See CommandHandlerRegistry."""
        self._command_handler_registry.register_command_handler(prefix, handler, help_info, prefix_aliases)
        self._tab_completion_registry.extend_comp_items("", [prefix, *(prefix_aliases or ())])

    def register_tab_comp_context(self, *args, **kwargs):
        """Says what can follow words. See TabCompletionRegistry."""
        self._tab_completion_registry.register_tab_comp_context(*args, **kwargs)

    def _parse_command(self, command):
        """(command, arguments, file for the output or None). Raises SyntaxError."""
        words, path = command_parser.extract_output_file_path(command_parser.parse_command(command))
        return (words[0], words[1:], path) if words else ("", [], None)

    @staticmethod
    def _analyze_tab_complete_input(text):
        """(first word if there is another, the last word, all before it) of what has been entered so far."""
        before, space, last = text.lstrip().rpartition(" ")
        return before.split(" ")[0], last, before + space

    def _handle_config(self, args, screen_info=None):
        parsed = self._config_arguments.parse_args(args)
        if not hasattr(parsed, "property_name"):
            return self._config.summarize()
        self._config.set(parsed.property_name, parsed.property_value)
        return self._config.summarize(highlight=parsed.property_name)

"""CLIConfig: what users set for the command line, kept in a file."""

from __future__ import annotations

import json
import os

from stillflow import errors
from stillflow.debug.cli.rich_text import RichLine, rich_text_lines_from_rich_line_list
from stillflow.files import gfile
from stillflow.names import public_module

public_module("python.debug.cli.cli_config")

_DEFAULTS = {"graph_recursion_depth": 20, "mouse_mode": True}
_TRUE = ("1", "true", "t", "yes", "y", "on")
_FALSE = ("0", "false", "f", "no", "n", "off")


class CLIConfig:
    """Named settings: graph_recursion_depth and mouse_mode.

    Args:
      config_file_path: the file that keeps them; by default .tfdbg_config in the user's folder.
    """

    def __init__(self, config_file_path=None):
        self._path = config_file_path or os.path.join(os.path.expanduser("~"), ".tfdbg_config")
        self._config = {**_DEFAULTS, **self._load()}
        self._callbacks: dict = {}
        self._save()

    def _load(self):
        try:
            with gfile.GFile(self._path, "r") as file:
                return json.loads(file.read())
        except (errors.OpError, ValueError):
            return {}

    def _save(self):
        try:
            with gfile.GFile(self._path, "w") as file:
                file.write(json.dumps(self._config))
        except errors.OpError:
            pass  # they are good for this process

    def _check(self, name):
        if name not in self._config:
            raise KeyError(f"{name} is not a valid property name.")

    def get(self, property_name):
        """The value of a setting. Raises KeyError for an unknown one."""
        self._check(property_name)
        return self._config[property_name]

    def set(self, property_name, property_val):
        """Changes a setting to a value, or to what a text says. Raises KeyError, or ValueError for other texts."""
        self._check(property_name)
        kind = type(self._config[property_name])
        if kind is bool and isinstance(property_val, str):
            if property_val.lower() not in _TRUE + _FALSE:
                raise ValueError(f"Invalid string value for bool type: {property_val}")
            property_val = property_val.lower() in _TRUE
        if kind not in (bool, int, str):
            raise TypeError(f"Unsupported property type: {kind}")
        self._config[property_name] = kind(property_val)
        self._save()
        if property_name in self._callbacks:
            self._callbacks[property_name](self._config)

    def set_callback(self, property_name, callback):
        """Has a function called with all settings when one changes. Raises KeyError, or TypeError for no function."""
        self._check(property_name)
        if not callable(callback):
            raise TypeError("The callback object provided is not callable.")
        self._callbacks[property_name] = callback

    def summarize(self, highlight=None):
        """The settings as RichTextLines, one of them highlighted."""
        lines = [RichLine("Command-line configuration:", "bold"), RichLine("")]
        for name, value in self._config.items():
            attribute = "bold" if name == highlight else None
            line = RichLine("  ") + RichLine(name, ["underline", attribute]) + ": " + RichLine(str(value), attribute)
            lines.append(line)
        return rich_text_lines_from_rich_line_list(lines)

"""get_ui: the command line of a name."""

from __future__ import annotations

import sys

from stillflow.names import public_module

public_module("python.debug.cli.ui_factory")

SUPPORTED_UI_TYPES = ["curses", "readline"]


def get_ui(ui_type, on_ui_exit=None, available_ui_types=None, config=None):
    """A command line, "curses" for the whole screen or "readline" for lines; None is the first.

    Where Python has no curses, or there is no terminal, lines are shown in the place of the screen.

    Raises ValueError for other names, and if there is nothing to fall back to.
    """
    available = list(SUPPORTED_UI_TYPES if available_ui_types is None else available_ui_types)
    ui_type = ui_type or "curses"
    if ui_type not in available:
        raise ValueError(f"Invalid ui_type: '{ui_type}'")
    if ui_type == "curses" and "readline" in available and not (sys.stdin.isatty() and sys.stdout.isatty()):
        ui_type = "readline"
    if ui_type == "readline":
        from stillflow.debug.cli.readline_ui import ReadlineUI

        return ReadlineUI(on_ui_exit, config)
    try:
        from stillflow.debug.cli.curses_ui import CursesUI
    except ImportError:
        available.remove(ui_type)
        if not available:
            raise ValueError("Exhausted all fallback ui_types.") from None
        return get_ui(available[0], on_ui_exit, available, config)
    return CursesUI(on_ui_exit, config)

"""Where in a program an operation is made: the frames that are not of this package."""

from __future__ import annotations

import sys
import types

_PACKAGE = __name__.split(".")[0]
_MOST_CALL_SITES = 32
_outside: dict[str, bool] = {}  # by name of module: whether it is not of this package


def _is_outside(frame):
    module = frame.f_globals.get("__name__", "")
    found = _outside.get(module)
    if found is None:
        found = _outside[module] = module != _PACKAGE and not module.startswith(f"{_PACKAGE}.")
    return found


def is_of_program(frame):
    """Whether a frame is of the program that uses this package."""
    return _is_outside(frame) and frame.f_globals.get("__name__") != "contextlib"


def call_sites():
    """[(code, instruction)] of the frames outside this package, outermost first, innermost ones if they are many.

    Every operation asks, few are ever told about: `line_of` finds the lines later.
    """
    frame: types.FrameType | None = sys._getframe(2)
    sites: list = []
    while frame is not None and len(sites) < _MOST_CALL_SITES:
        outside = _outside.get(frame.f_globals.get("__name__", ""))
        if outside or (outside is None and _is_outside(frame)):
            sites.append((frame.f_code, frame.f_lasti))
        frame = frame.f_back
    sites.reverse()
    return sites


def line_of(code, instruction):
    """The line of the source that an instruction of a code object, its offset in bytes, comes from."""
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    return next(lines, None) or code.co_firstlineno

"""Where in a program an operation is made: the frames that are not of this package."""

from __future__ import annotations

import sys
import types

_PACKAGE = __name__.split(".")[0]
_MOST_CALL_SITES = 32


def _is_outside(frame):
    module = frame.f_globals.get("__name__", "")
    return not module.startswith(_PACKAGE) or (module != _PACKAGE and module[len(_PACKAGE)] != ".")


def is_of_program(frame):
    """Whether a frame is of the program that uses this package."""
    return _is_outside(frame) and frame.f_globals.get("__name__") != "contextlib"


def call_sites():
    """[(code, line)] of the frames outside this package, outermost first, innermost ones if they are many."""
    frame: types.FrameType | None = sys._getframe(2)
    sites: list = []
    while frame is not None and len(sites) < _MOST_CALL_SITES:
        if _is_outside(frame):
            sites.append((frame.f_code, frame.f_lineno))
        frame = frame.f_back
    sites.reverse()
    return sites

"""What `stillflow run` tells of a program: each thing once, on standard error."""

from __future__ import annotations

import sys


class Once:
    """A notice, said the first time that it is called; `text` is formatted with what that call is given."""

    def __init__(self, text):
        self._text = text
        self._is_said = False

    def __call__(self, *values):
        if not self._is_said:
            self._is_said = True
            sys.stderr.write(f"stillflow: {self._text.format(*values)}\n")
